import { join } from 'node:path';
import { CinnabarError, type Files, makeFolder, openJournal, type WriteWatch } from '@cinnabar/sdk';

const NAME = /^[a-z][a-z0-9-]{0,31}$/;
/** Folders below the data that are the host's own. */
const TAKEN = ['cache', 'documents', 'logs', 'plugins'];

/** Gives plugins folders below the host's data, and journals in them. */
export function createFiles(dataDir: string, watch: WriteWatch): Files {
  return {
    async folder(name) {
      const detail = TAKEN.includes(name) ? 'it is one of the host' : 'lower case letters, digits and -, at most 32';
      if (!NAME.test(name) || TAKEN.includes(name)) {
        throw new CinnabarError('CINNABAR_NAME_INVALID', { kind: 'folder', name, detail });
      }
      const path = join(dataDir, name);
      await makeFolder(path);
      return path;
    },
    journal: (file, schema, options) => openJournal(file, schema, { ...options, watch }),
  };
}
