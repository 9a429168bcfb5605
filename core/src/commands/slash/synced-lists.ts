import { createHash } from 'node:crypto';
import { type Clock, type Document, type Logger, z } from '@cinnabar/sdk';

export const syncedListsSchema = z.object({
  /** By guild (`dm` for the global list): a digest of what it holds and, in guilds, when the bot joined. */
  lists: z.record(z.string(), z.string()).default({}),
  /** When each was last compared with Discord's, in ms. */
  comparedAt: z.record(z.string(), z.number()).default({}),
});
type Stored = z.output<typeof syncedListsSchema>;
export type SyncedListsDocument = Pick<Document<Stored>, 'find' | 'set'>;

/**
 * What Discord's lists of slash commands hold, as far as this program has brought them in line: so that a start with nothing changed asks Discord
 * nothing. Only a list that was seen, or sent whole, is known; one that is about to change is forgotten on the disk first, so that after a crash
 * it is looked at again. What was compared more than a day before the start is looked at again, too: another program may have changed Discord's
 * list meanwhile, or this folder may come from a backup.
 */
export interface SyncedLists {
  /** Reads what earlier runs knew. When that cannot be read, every list is looked at. */
  open(): Promise<void>;
  holds(list: string, digest: string): boolean;
  /** Resolves when it is on the disk. @throws CINNABAR_STORAGE_WRITE */
  forget(lists: readonly string[]): Promise<void>;
  note(list: string, digest: string): void;
  /** Writes what was noted. Never rejects: what is lost is looked at again. */
  save(): Promise<void>;
}

const KNOWN_FOR_MS = 24 * 60 * 60_000;

/** @param document where it is kept; in memory alone when left out */
export function createSyncedLists(
  document: (() => SyncedListsDocument) | undefined,
  clock: Clock,
  log: Logger,
): SyncedLists {
  let opening: Promise<void> | undefined;
  const known = new Map<string, { readonly digest: string; readonly at: number }>();
  let changed = false;
  let writing: Promise<void> | undefined;

  const read = async () => {
    try {
      const { lists, comparedAt } = (await document?.().find()) ?? { lists: {}, comparedAt: {} };
      for (const [list, digest] of Object.entries(lists)) {
        const at = comparedAt[list] ?? Number.NEGATIVE_INFINITY;
        // A time that lies ahead is of a clock that was set back.
        const isRecent = Math.abs(clock.now() - at) < KNOWN_FOR_MS;
        // What is known by now is newer.
        if (isRecent && !known.has(list)) known.set(list, { digest, at });
      }
    } catch (error) {
      log.warn('what the lists of slash commands hold could not be read, so each is looked at', { error });
    }
  };
  const write = async () => {
    changed = false;
    const entries = [...known];
    await document?.().set({
      lists: Object.fromEntries(entries.map(([list, { digest }]) => [list, digest])),
      comparedAt: Object.fromEntries(entries.map(([list, { at }]) => [list, at])),
    });
  };
  /** Shares a write that has not begun. */
  const flush = async (): Promise<void> => {
    const before = writing;
    await before?.catch(() => undefined);
    if (writing === before) {
      const run = write().finally(() => {
        if (writing === run) writing = undefined;
      });
      writing = run;
    }
    await writing;
  };

  return {
    open() {
      opening ??= read();
      return opening;
    },
    holds: (list, digest) => known.get(list)?.digest === digest,
    async forget(lists) {
      const gone = lists.filter((list) => known.delete(list));
      if (gone.length > 0) await flush();
    },
    note(list, digest) {
      known.set(list, { digest, at: clock.now() });
      changed = true;
    },
    async save() {
      if (!changed) return;
      await flush().catch((error: unknown) => {
        changed = true;
        log.debug('what the lists of slash commands hold could not be saved', { error });
      });
    },
  };
}

/** A digest of commands as they are compared. */
export function digestOf(commands: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(commands)).digest('base64url').slice(0, 22);
}
