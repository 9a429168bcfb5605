import { basename, join } from 'node:path';
import { type Clock, type Logger, makeFolder, prepareFile, removeFiles, replaceFile, syncFolder } from '@cinnabar/sdk';
import { DamagedDocument, type Driver } from '../../driver.js';
import { decodeStored, encodeStored } from '../../envelope.js';
import { copyAside, entriesOf, isThere, moveAside, readIfThere } from './files.js';
import { folderOf, type Place, placeOf } from './place.js';
import { walk } from './walk.js';
import { writeAtomically } from './writer.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * A file per document under `root`: `party/collections/user/rosters/42.json`, mode 0600, and beside it `42.last-good`, copies put aside as
 * `42.corrupt-<time>` and those from before a migration as `42.v1-<time>`. Written by conf; read here, because conf takes broken UTF-8 for text
 * and a missing file for an empty one. Only one process may write under one root.
 *
 * A write, or a deletion, resolves when its folder has been synced: conf syncs the file alone, and a power cut then takes the new name back.
 * A write whose folder cannot be synced is undone, as far as the disk lets it.
 */
export function createConfDriver(options: {
  readonly root: string;
  readonly clock: Clock;
  readonly log: Logger;
}): Driver {
  const { root, clock, log } = options;
  const aside = (place: Place, label: string) =>
    join(place.folder, `${place.stem}.${label}-${new Date(clock.now()).toISOString().replaceAll(/[:.]/g, '')}`);

  /** The document itself is safe: failing would claim that it is not. */
  const noCopy = ({ lastGood: file }: Place, error: unknown): undefined => {
    log.warn('the last good copy of a document could not be written', { file, error });
  };

  /** The copy first, and kept as removed: a copy alone means that the document was lost. */
  const removeDocument = async ({ folder, file, lastGood }: Place) => {
    if (await isThere(lastGood)) await removeFiles(folder, [basename(lastGood)]);
    if (await isThere(file)) await removeFiles(folder, [basename(file)]);
  };

  const readText = (bytes: Buffer): string => {
    try {
      return utf8.decode(bytes);
    } catch (cause) {
      throw new DamagedDocument('it is not UTF-8 text', { cause });
    }
  };

  const undo = async ({ folder, file }: Place, before: Buffer | undefined) => {
    try {
      if (before === undefined) await removeFiles(folder, [basename(file)]);
      else await replaceFile(file, before);
    } catch (error) {
      // Its folder cannot be synced: what counts is the name, which was changed before that.
      log.warn('a write that failed may not be undone for good', { file, error });
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
      await makeFolder(place.folder);
      const before = await readIfThere(place.file);
      writeAtomically(place.file, stored);
      // While its new name is synced, the copy is written. It is moved into place after that: a copy whose document is not there would be taken
      // for the rest of a lost one. The copy's own name is kept with the folder's next sync; until then a power cut leaves the older copy.
      const preparing = prepareFile(place.lastGood, text).catch((error: unknown) => noCopy(place, error));
      try {
        await syncFolder(place.folder);
      } catch (error) {
        await (await preparing)?.discard();
        await undo(place, before);
        throw error;
      }
      const copy = await preparing;
      await copy?.place().catch((error: unknown) => noCopy(place, error));
    },

    async delete(path) {
      const place = placeOf(root, path);
      await removeDocument(place);
    },

    async erase(path) {
      const place = placeOf(root, path);
      await removeDocument(place);
      const names = (await entriesOf(place.folder)).map(({ name }) => name);
      await removeFiles(
        place.folder,
        names.filter((name) => name.startsWith(`${place.stem}.`)),
      );
    },

    list: (prefix) => walk(folderOf(root, prefix), prefix),

    async setAside(path) {
      const place = placeOf(root, path);
      const bad = await readIfThere(place.file);
      const moved = bad === undefined ? undefined : await moveAside(place.file, aside(place, 'corrupt'));
      const copy = await readIfThere(place.lastGood);
      if (copy === undefined) return moved;
      if (bad?.equals(copy) === true) await removeFiles(place.folder, [basename(place.lastGood)]);
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
