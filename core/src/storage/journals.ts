import { CinnabarError, createJournal, type Journals, type JournalsOptions } from '@cinnabar/sdk';
import type { DocumentPath, Driver } from './driver.js';
import { isFolderName } from './files.js';

/** Journals below a path of a driver, and the end of those that are still open. */
export function openJournals(
  driver: Pick<Driver, 'journal' | 'journals'>,
  root: DocumentPath,
): Journals & { release(): Promise<void> } {
  const inUse = new Set<{ release(): Promise<void> }>();
  return {
    open(path, { schema, guildId, snapshot }) {
      const journal = createJournal(
        driver.journal([...root, ...path], guildId),
        schema,
        snapshot === undefined ? {} : { snapshot },
      );
      const opened = {
        ...journal,
        get size() {
          return journal.size;
        },
        async release() {
          inUse.delete(opened);
          await journal.release();
        },
      };
      inUse.add(opened);
      return opened;
    },
    async list(below = []) {
      const found = await driver.journals([...root, ...below]);
      return found.map((entry) => ({ ...entry, path: entry.path.slice(root.length) }));
    },
    async release() {
      await Promise.all([...inUse].map((journal) => journal.release()));
    },
  };
}

/** Where the journals of a plugin lie in the host's storage. @throws CINNABAR_NAME_INVALID */
export function journalsRoot(plugin: string, { name = plugin }: JournalsOptions): DocumentPath {
  if (isFolderName(name)) return [name];
  const detail = 'lower case letters, digits and -, at most 32, and none of the host';
  throw new CinnabarError('CINNABAR_NAME_INVALID', { kind: 'journal', name, detail });
}
