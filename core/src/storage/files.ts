import { join } from 'node:path';
import {
  CinnabarError,
  createJournal,
  type Files,
  type Journals,
  type JournalsOptions,
  makeFolder,
} from '@cinnabar/sdk';
import type { DocumentPath, Driver } from './driver.js';

const NAME = /^[a-z][a-z0-9-]{0,31}$/;

/** Folders below the data folder that belong to the host. */
const TAKEN = ['backups', 'bots', 'cache', 'config', 'documents', 'logs', 'plugins'];

/** Whether a folder's name is reserved for the host's own data. */
export const isOfHost = (name: string): boolean => TAKEN.includes(name);

/** Whether a plugin may keep its data under a name. */
const isFolderName = (name: string): boolean => NAME.test(name) && !isOfHost(name);

/** Folders below the caches that belong to the host. */
const TAKEN_CACHES = ['plugins', 'workers'];

interface FilePlaces {
  readonly dataDir: string;
  readonly cacheDir: string;
}

/** Provides plugins with folders below the host's data and caches. */
export function createFiles({ dataDir, cacheDir }: FilePlaces): Files {
  const open = async (parent: string, name: string, taken: readonly string[]) => {
    const detail = taken.includes(name) ? 'it is one of the host' : 'lower case letters, digits and -, at most 32';
    if (!NAME.test(name) || taken.includes(name)) {
      throw new CinnabarError('CINNABAR_NAME_INVALID', { kind: 'folder', name, detail });
    }
    const path = join(parent, name);
    await makeFolder(path);
    return path;
  };
  return {
    folder: (name) => open(dataDir, name, TAKEN),
    cacheFolder: (name) => open(cacheDir, name, TAKEN_CACHES),
  };
}

/** Opens journals below a path of a driver; `release` closes those that are still open. */
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

/** The path of a plugin's journals in the host's storage. @throws CINNABAR_NAME_INVALID */
export function journalsRoot(plugin: string, { name = plugin }: JournalsOptions): DocumentPath {
  if (isFolderName(name)) return [name];
  const detail = 'lower case letters, digits and -, at most 32, and none of the host';
  throw new CinnabarError('CINNABAR_NAME_INVALID', { kind: 'journal', name, detail });
}
