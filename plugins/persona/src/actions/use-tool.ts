import { type Outcome, type PersonaTrigger, type SettledOutcome, type Tools, UserError, z } from '@cinnabar/sdk';
import { settledText } from '../triggers/tool-result.js';
import { defineAction, type TurnRun } from './action.js';

export interface UseToolParts {
  readonly tools: Tools;
  /** A call has to wait; resolves when that has been noted. */
  onHeld(run: TurnRun, tool: string, callId: string): Promise<void>;
  /** A call that had to wait has ended. */
  onSettled(run: TurnRun, tool: string, outcome: SettledOutcome): void;
  /** Each call is told of in the receipt. */
  onCall(run: TurnRun, tool: string, outcome: Outcome['status']): void;
}

/** Acts for the member who asked, through everything that guards the host's tools. */
export const useTool = ({ tools, onHeld, onSettled, onCall }: UseToolParts) =>
  defineAction({
    name: 'USE_TOOL',
    description: 'Use one of the tools listed below for the member who asked, with their rights',
    contextNeeded: 'Which tool, for what, and the arguments as far as they were said',
    result: z.object({
      tool: z.string().min(1).max(64).describe('Name of the tool'),
      arguments: z.record(z.string(), z.unknown()).describe('Arguments that fit its parameters'),
    }),
    revealing: true,
    quotes: true,
    isOffered: ({ tools: offered }) => offered.length > 0,
    async execute({ tool, arguments: given }, run) {
      const { actor, trigger, signal } = run;
      if (actor === undefined || !run.tools.some(({ name }) => name === tool)) {
        throw new UserError(`There is no tool called "${tool}" for what is being answered.`);
      }
      const outcome = await whileRunning(signal, (during) =>
        tools.invoke({
          name: tool,
          arguments: given,
          actor,
          signal: during,
          origin: 'persona',
          ...messageOf(trigger),
        }),
      );
      onCall(run, tool, outcome.status);
      if (outcome.status !== 'deferred') return `${tool}: ${settledText(outcome)}`;
      await onHeld(run, tool, outcome.callId);
      void outcome.settled.then((settled) => onSettled(run, tool, settled));
      return `${tool}: ${outcome.note}`;
    },
  });

function messageOf(trigger: PersonaTrigger): { messageId?: string } {
  return trigger.type === 'user_input' && trigger.messageId !== null ? { messageId: trigger.messageId } : {};
}

/** The run's end ends a call that is under way, but none that waits for somebody: that may take longer than any run. */
async function whileRunning<T>(signal: AbortSignal, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  try {
    return await task(controller.signal);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
