import type { Bill, LlmCompletion, Receipt } from '@cinnabar/sdk';
import { actorOf } from '../model/actor.js';
import { labelOf, type Task } from '../model/task.js';

/** What a step cost, for `!why` and `!cost`. Repeated after a crash it has the same id. */
export function receiptOf(task: Task, completion: LlmCompletion, bill: Bill, at: number): Receipt {
  const n = task.stepCount + 1;
  return {
    ...bill,
    id: `${task.id}-${n}`,
    at,
    mind: 'tasks',
    actor: actorOf(task),
    messageIds: [],
    trigger: `I worked on the task ${labelOf(task)}, step ${n}`,
    model: completion.model,
    provider: completion.provider,
    mode: completion.mode,
    tools: completion.content.flatMap((block) =>
      block.type === 'text' ? [] : [{ name: block.name, outcome: 'asked for' }],
    ),
    details: [`Task: ${task.prompt.slice(0, 200)}`],
  };
}
