import type { Journal } from '../journal/journal.js';
import type { Ending } from '../model/task.js';
import type { Crew } from './crew.js';
import { type FinalStatus, finish } from './finish.js';

/** Ends tasks from outside: a person's stop, a lost right, a limit that passes while a tool runs. */
export interface Ends {
  /** Nothing begins after the call; resolves once the end is written. The channel is told afterwards. @throws Superseded when it was over already */
  end(id: string, status: FinalStatus, ending: Pick<Ending, 'kind' | 'text' | 'byUserId'>): Promise<void>;
  /** Resolves when the channel has been told of all of them. */
  told(): Promise<void>;
}

export function createEnds({ crew, journal }: { crew: Crew; journal: Journal }): Ends {
  const underWay = new Set<Promise<void>>();
  return {
    async end(id, status, ending) {
      const conclude = crew.halt(id);
      try {
        await finish({ journal }, id, status, ending);
      } finally {
        const telling = conclude().finally(() => underWay.delete(telling));
        underWay.add(telling);
      }
    },
    async told() {
      await Promise.all(underWay);
    },
  };
}
