import { type Clock, FORGOTTEN, isOf, type Ledger, type LedgerEntry, type Logger } from '@cinnabar/sdk';
import type { LedgerStore } from './ledger.js';

/** How long, and how many, ended calls are kept. */
export interface KeptCalls {
  readonly days: number;
  readonly calls: number;
}

export const KEPT_CALLS: KeptCalls = { days: 30, calls: 10_000 };
const DAY_MS = 24 * 60 * 60 * 1000;
/** Pruning lists a folder, so it is not done for each call. */
const PRUNE_EVERY = 100;
const READ_AT_ONCE = 50;

interface Parts {
  readonly store: Pick<LedgerStore, 'archived' | 'endedAt' | 'erase' | 'rewrite' | 'get' | 'remove'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly kept?: KeptCalls;
}

/** The archived calls: looked up newest first, and pruned. */
export function createHistory({ store, clock, log, kept = KEPT_CALLS }: Parts) {
  let sincePruned = 0;

  const tooOld = async (callId: string) => {
    const endedAt = await store.endedAt(callId);
    return endedAt === undefined || endedAt < clock.now() - kept.days * DAY_MS;
  };

  const prune = async () => {
    sincePruned = 0;
    const ids = await store.archived();
    for (const [index, id] of ids.entries()) {
      const excess = ids.length - index > kept.calls;
      // Ids sort by time: the first that may stay ends the sweep.
      if (!excess && !(await tooOld(id))) return;
      await store.remove(id);
    }
  };

  return {
    prune,
    /** Counts an archived call and prunes now and then. Never rejects: the call itself is already written. */
    async added(): Promise<void> {
      sincePruned += 1;
      if (sincePruned < PRUNE_EVERY) return;
      try {
        await prune();
      } catch (error) {
        log.warn('old calls could not be removed from the ledger', { error });
      }
    },
    /** @param others calls that are not archived yet */
    async recent(
      others: readonly LedgerEntry[],
      filter: Parameters<Ledger['recent']>[0],
    ): Promise<readonly LedgerEntry[]> {
      const wanted = (entry: LedgerEntry) =>
        (filter.userId === undefined || entry.actor.userId === filter.userId) &&
        (filter.guildId === undefined || entry.actor.guildId === filter.guildId);
      const found = others.filter(wanted);
      const ids = new Set(others.map(({ id }) => id));
      const enough = found.length + filter.limit;
      for await (const entry of newestArchived()) {
        if (found.length >= enough) break;
        if (wanted(entry) && !ids.has(entry.id)) found.push(entry);
      }
      return found.sort(newestFirst).slice(0, filter.limit);
    },
    /** Removes what one person asked for. Calls under way go on, and are kept. */
    async forget(userId: string): Promise<void> {
      for await (const entry of newestArchived()) {
        if (entry.actor.userId === userId) await store.erase(entry.id);
        else if (isOf(entry.sources, userId)) await store.rewrite(withoutWords(entry));
      }
    },
  };

  async function* newestArchived(): AsyncGenerator<LedgerEntry> {
    const ids = [...(await store.archived())].reverse();
    for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
      const read = await Promise.all(ids.slice(at, at + READ_AT_ONCE).map((id) => store.get(id)));
      yield* read.filter((entry) => entry !== undefined);
    }
  }
}

/** That the call was made stays. */
function withoutWords({ sources: _sources, ...entry }: LedgerEntry): LedgerEntry {
  return { ...entry, text: FORGOTTEN };
}

const newestFirst = (a: LedgerEntry, b: LedgerEntry) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
