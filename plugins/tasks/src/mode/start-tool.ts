import { hasModel, type Llm, type Registrar, type Tasks, z } from '@cinnabar/sdk';
import { TASK_POLICY } from '../running/may-go-on.js';
import { START_TOOL } from '../running/start-tool.js';

/** By which `chat`, `persona` and other minds hand over what takes several steps. */
export function registerStartTool(
  { tool }: Pick<Registrar, 'tool'>,
  tasks: Tasks,
  llm: Pick<Llm, 'current'> | undefined,
): void {
  tool({
    name: START_TOOL,
    description:
      'Starts a long-running task that works by itself, step by step, and reports in a thread. For what takes several steps or some time. It has only begun when this returns.',
    input: z.object({ goal: z.string().min(1).max(4_000).describe('The whole task, in one piece') }),
    risk: 'write',
    access: TASK_POLICY,
    offered: () => hasModel(llm),
    examples: ['start a task: {goal}', 'take your time and {goal}'],
    present: {
      sentence: ({ goal }) => `I'll start a task: ${goal}`,
      said: ['goal'],
      action: 'Start a task',
      success: (_input, { link }: { readonly link: string | undefined }) =>
        `✓ The task has begun, it is not done yet: ${link ?? 'it works in this channel'}`,
      cancelled: () => 'Cancelled starting the task.',
    },
    async run({ goal }, { actor }) {
      const { id, link } = await tasks.start({ prompt: goal, actor, origin: 'tool' });
      return { id, link };
    },
  });
}
