import type { Accounts, TaskMessage } from '@cinnabar/sdk';
import type { Saying } from '../discord/message-sender.js';
import { actorOf, type Task } from '../task.js';

import type { RunControl, TaskContext } from './run-control.js';

export const workIdOf = (task: Pick<Task, 'id'>, n: number) => `${task.id}-${n}`;

/** Messages of a step belong to its receipt, so that `!why` as a reply to one of them finds it. */
export async function attachMessages(
  accounts: Accounts | undefined,
  task: Task,
  ids: readonly string[],
): Promise<void> {
  const { channelId } = actorOf(task);
  const kept = await accounts?.receipts(channelId, 'tasks');
  const receipt = kept?.find(({ id }) => id === workIdOf(task, task.stepCount));
  if (receipt === undefined || ids.length === 0) return;
  await accounts?.record({ ...receipt, messageIds: [...new Set([...receipt.messageIds, ...ids])] });
}

/**
 * Says something for a task, and writes that it has been said together with what else follows from it. After a crash it is looked for first,
 * so that nothing is said twice.
 */
export async function say(
  context: TaskContext,
  control: RunControl,
  task: Task,
  saying: Saying,
  said: (draft: Task, ids: string[]) => void,
): Promise<void> {
  const ids = await context.speaker.say(task, saying, { recognise: control.recognise, signal: control.left });
  control.recognise = false;
  await context.journal.note(task.id, (draft) => {
    said(draft, ids);
    keepSaid(draft, ids);
  });
  await attachMessages(context.accounts, task, ids);
  context.tell(messageOf(task, saying, ids));
}

/** Remembers the task's own messages. */
export function keepSaid(draft: Task, ids: readonly string[]): void {
  draft.lastId = ids.at(-1) ?? draft.lastId ?? '0';
  draft.saidIds = [...(draft.saidIds ?? []), ...ids].slice(-MOST_SAID);
}

export function messageOf(task: Task, { kind, text }: Saying, messageIds: readonly string[]): TaskMessage {
  return { taskId: task.id, stepCount: task.stepCount, kind, text, messageIds };
}

const MOST_SAID = 50;
