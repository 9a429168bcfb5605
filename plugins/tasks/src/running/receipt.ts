import type { Accounts, Bill, LlmCompletion, Receipt } from '@cinnabar/sdk';
import { actorOf } from '../model/actor.js';
import { labelOf, type Task } from '../model/task.js';

const idOf = (task: Pick<Task, 'id'>, n: number) => `${task.id}-${n}`;

/** Messages of a step belong to its receipt, so that `!why` as a reply to one of them finds it. */
export async function attachMessages(
  accounts: Accounts | undefined,
  task: Task,
  ids: readonly string[],
): Promise<void> {
  const { channelId } = actorOf(task);
  const kept = await accounts?.receipts(channelId, 'tasks');
  const receipt = kept?.find(({ id }) => id === idOf(task, task.stepCount));
  if (receipt === undefined || ids.length === 0) return;
  await accounts?.record({ ...receipt, messageIds: [...new Set([...receipt.messageIds, ...ids])] });
}

/** What a step cost, for `!why` and `!cost`. Repeated after a crash it has the same id. */
export function receiptOf(task: Task, completion: LlmCompletion, bill: Bill, at: number): Receipt {
  const n = task.stepCount + 1;
  return {
    ...bill,
    id: idOf(task, n),
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
