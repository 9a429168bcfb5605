import { join } from 'node:path';
import { CinnabarError, type Files, makeFolder } from '@cinnabar/sdk';

const NAME = /^[a-z][a-z0-9-]{0,31}$/;

/** Folders below the data that are the host's own. */
const TAKEN = ['backups', 'bots', 'cache', 'config', 'documents', 'logs', 'plugins'];

/** Whether the host keeps its own data under a name, so that no plugin may be called so. */
export const isOfHost = (name: string): boolean => TAKEN.includes(name);

/** Whether a plugin may keep its data under a name. */
export const isFolderName = (name: string): boolean => NAME.test(name) && !isOfHost(name);

/** Folders below the caches that are the host's own. */
const TAKEN_CACHES = ['plugins', 'workers'];

export interface FilePlaces {
  readonly dataDir: string;
  readonly cacheDir: string;
}

/** Gives plugins folders below the host's data and its caches. */
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
