import type { TaskMessage } from '@cinnabar/sdk';
import type { Saying } from '../discord/speaker.js';
import type { Task } from '../model/task.js';
import type { RunControl } from './control.js';
import type { RunParts } from './parts.js';
import { attachMessages } from './receipt.js';

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

const MOST_SAID = 50;

/** Remembers the task's own messages. */
export function keepSaid(draft: Task, ids: readonly string[]): void {
  draft.lastId = ids.at(-1) ?? draft.lastId ?? '0';
  draft.saidIds = [...(draft.saidIds ?? []), ...ids].slice(-MOST_SAID);
}

export function messageOf(task: Task, { kind, text }: Saying, messageIds: readonly string[]): TaskMessage {
  return { taskId: task.id, stepCount: task.stepCount, kind, text, messageIds };
}
