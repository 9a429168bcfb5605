import type { Accounts, LlmCompletion, TaskMessage, WorkCharge, WorkDetails } from '@cinnabar/sdk';
import type { Saying } from '../discord/message-sender.js';
import { actorOf, labelOf, type Task } from '../task.js';

import type { RunControl, RunParts } from './run-control.js';

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

/** The next step of a task: repeated after a crash it has the same receipt. */
export function chargeFor(task: Task): WorkCharge {
  const n = task.stepCount + 1;
  return {
    actor: actorOf(task),
    responder: 'tasks',
    trigger: `I worked on the task ${labelOf(task)}, step ${n}`,
    work: idOf(task, n),
  };
}

/** What `!why` says of a step, beside what it cost. */
export function workDetailsOf(task: Task, { content }: LlmCompletion): WorkDetails {
  return {
    tools: content.flatMap((block) => (block.type === 'text' ? [] : [{ name: block.name, outcome: 'asked for' }])),
    details: [`Task: ${task.prompt.slice(0, 200)}`],
  };
}

/**
 * Says something for a task, and writes that it has been said together with what else follows from it. After a crash it is looked for first,
 * so that nothing is said twice.
 */
export async function say(
  parts: RunParts,
  control: RunControl,
  task: Task,
  saying: Saying,
  said: (draft: Task, ids: string[]) => void,
): Promise<void> {
  const ids = await parts.speaker.say(task, saying, { recognise: control.recognise, signal: control.left });
  control.recognise = false;
  await parts.journal.note(task.id, (draft) => {
    said(draft, ids);
    keepSaid(draft, ids);
  });
  await attachMessages(parts.accounts, task, ids);
  parts.tell(messageOf(task, saying, ids));
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
