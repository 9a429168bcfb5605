import type { Journal } from '../journal/journal.js';
import type { Crew } from './crew.js';

/** Lets a paused task go on, or one that was about to pause. @throws Superseded */
export async function resumeTask(
  { journal, crew }: { readonly journal: Journal; readonly crew: Crew },
  id: string,
): Promise<void> {
  const task = await journal.note(id, (draft) => {
    draft.pausing = false;
  });
  // One that was about to pause goes on by itself.
  if (task.status !== 'paused') return;
  await crew.ended(id);
  await journal.move(id, 'queued', (draft) => {
    draft.pausedByHost = false;
  });
  crew.launch(id, true);
}
