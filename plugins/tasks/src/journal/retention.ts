import { isFinal } from '../model/status.js';
import type { Task } from '../model/task.js';
import type { Journal } from './journal.js';

/** Removes the oldest of the ended tasks of which there are more than `keep`. */
export async function pruneEnded(journal: Journal, keep: number): Promise<void> {
  const ended: Task[] = [];
  for await (const task of journal.all()) if (isFinal(task.status) && task.ending?.told !== false) ended.push(task);
  ended.sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
  for (const { id } of ended.slice(keep)) await journal.remove(id);
}
