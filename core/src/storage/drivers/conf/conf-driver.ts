import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Logger } from '@cinnabar/sdk';
import { DamagedDocument, type Driver } from '../../driver.js';
import { decodeStored, encodeStored } from '../../envelope.js';
import { copyAside, entriesOf, moveAside, readIfThere, removeIfThere, replaceFile } from './files.js';
import { folderOf, type Place, placeOf } from './place.js';
import { walk } from './walk.js';
import { writeAtomically } from './writer.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * A file per document under `root`: `party/collections/user/rosters/42.json`, mode 0600, and beside it `42.last-good`, copies put aside as
 * `42.corrupt-<time>` and those from before a migration as `42.v1-<time>`. Written by conf; read here, because conf takes broken UTF-8 for text
 * and a missing file for an empty one. Only one process may write under one root.
 */
export function createConfDriver(options: {
  readonly root: string;
  readonly clock: Clock;
  readonly log: Logger;
}): Driver {
  const { root, clock, log } = options;
  const aside = (place: Place, label: string) =>
    join(place.folder, `${place.stem}.${label}-${new Date(clock.now()).toISOString().replaceAll(/[:.]/g, '')}`);

  const readText = (bytes: Buffer): string => {
    try {
      return utf8.decode(bytes);
    } catch (cause) {
      throw new DamagedDocument('it is not UTF-8 text', { cause });
    }
  };

  return {
    async read(path) {
      const place = placeOf(root, path);
      const bytes = await readIfThere(place.file);
      if (bytes !== undefined) return decodeStored(readText(bytes));
      // `delete` removes the copy first, so a copy alone means that the document was lost.
      if ((await readIfThere(place.lastGood)) === undefined) return undefined;
      throw new DamagedDocument('its file is missing');
    },

    async write(path, stored) {
      const place = placeOf(root, path);
      const text = encodeStored(stored);
      await mkdir(place.folder, { recursive: true, mode: 0o700 });
      writeAtomically(place.file, stored);
      try {
        await replaceFile(place.lastGood, text);
      } catch (error) {
        // The document itself is safe: failing now would claim that it is not.
        log.warn('the last good copy of a document could not be written', { file: place.lastGood, error });
      }
    },

    async delete(path) {
      const place = placeOf(root, path);
      await removeIfThere(place.lastGood);
      await removeIfThere(place.file);
    },

    async erase(path) {
      const place = placeOf(root, path);
      await removeIfThere(place.lastGood);
      await removeIfThere(place.file);
      for (const { name } of await entriesOf(place.folder)) {
        if (name.startsWith(`${place.stem}.`)) await removeIfThere(join(place.folder, name));
      }
    },

    list: (prefix) => walk(folderOf(root, prefix), prefix),

    async setAside(path) {
      const place = placeOf(root, path);
      const bad = await readIfThere(place.file);
      const moved = bad === undefined ? undefined : await moveAside(place.file, aside(place, 'corrupt'));
      const copy = await readIfThere(place.lastGood);
      if (copy === undefined) return moved;
      if (bad?.equals(copy) === true) await removeIfThere(place.lastGood);
      else await replaceFile(place.file, copy);
      return moved;
    },

    async keep(path, label) {
      const place = placeOf(root, path);
      return copyAside(place.file, aside(place, label));
    },

    async close() {},
  };
}
