import type { PersonalData, Provenance } from '@cinnabar/sdk';
import { type MayShow, shownOf } from '../context/shown.js';
import { isFinal } from '../model/status.js';
import type { Task } from '../model/task.js';
import type { Ends } from '../running/end.js';
import type { Journal } from './journal.js';
import { Superseded } from './journal.js';

/** A member's tasks. One that is under way ends when it is to be forgotten. */
export function personalTasks({
  journal,
  ends,
  provenance,
}: {
  readonly journal: Journal;
  readonly ends: Ends;
  readonly provenance: Pick<Provenance, 'mayHave'>;
}): PersonalData {
  const theirs = async (userId: string) => {
    const found: Task[] = [];
    for await (const task of journal.all()) if (task.actor.userId === userId) found.push(task);
    return found;
  };
  return {
    export: async (userId) => {
      const mayHave = (sources: Parameters<MayShow>[0]) => provenance.mayHave(sources, userId);
      return Promise.all((await theirs(userId)).map((task) => shownOf(task, mayHave)));
    },
    async forget(userId) {
      for (const { id, status } of await theirs(userId)) {
        if (isFinal(status)) continue;
        const text = 'Whoever asked for this had their data deleted.';
        await ends.end(id, 'cancelled', { kind: 'gone', text }).catch((error: unknown) => {
          if (!(error instanceof Superseded)) throw error;
        });
      }
      await ends.told();
      for (const { id } of await theirs(userId)) await journal.remove(id);
    },
  };
}
