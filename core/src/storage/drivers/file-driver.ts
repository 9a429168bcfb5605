import type { Dirent } from 'node:fs';
import { access, readdir, readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import {
  type Clock,
  changeFile,
  copyToNew,
  type JournalEntry,
  journalFile,
  type Logger,
  leftUnfinished,
  makeFolder,
  prepareFile,
  removeFiles,
  renameFile,
  replaceFile,
  syncFolder,
} from '@cinnabar/sdk';
import { DamagedDocument, type DocumentPath, type Driver, decodeStored, encodeStored, type Stored } from '../driver.js';
import { isOfHost } from '../files.js';
import { isData } from '../paths.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * A driver with one file for each document under `root`: `party/collections/user/rosters/42.json`, mode 0600, and beside it `42.last-good`, copies put aside as
 * `42.corrupt-<time>` and those from before a migration as `42.v1-<time>`. Files are written with conf, but read without it, because conf accepts invalid UTF-8
 * and treats a missing file as empty. Only one process may write below a root.
 *
 * A write, or a deletion, resolves when its folder has been synced: conf syncs only the file, and after a power cut the new name could be missing. A write
 * whose folder cannot be synced is undone, as far as the disk lets it.
 */
export function createFileDriver(options: {
  readonly root: string;
  /** Folder of the journals: `relay/queue/queue.jsonl`. Not below `root`, where they would be listed as documents. */
  readonly journals: string;
  readonly clock: Clock;
  readonly log: Logger;
}): Driver {
  const { root, journals, clock, log } = options;
  const aside = (place: Place, label: string) =>
    join(place.folder, `${place.stem}.${label}-${new Date(clock.now()).toISOString().replaceAll(/[:.]/g, '')}`);

  /** Logs that a copy could not be written. Not an error of the write, since the document itself is safe. */
  const noCopy = ({ lastGood: file }: Place, error: unknown): undefined => {
    log.warn('the last good copy of a document could not be written', { file, error });
  };

  /** Removes the copy first, and syncs its removal: a copy without a document means that the document was lost. */
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
      // Only the sync of the folder has failed again; the file itself was replaced.
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
      await changeFile(place.file, () => writeAtomically(place.file, stored));
      // The copy is written while the folder is synced, and renamed afterwards: a copy without its document would mean that the document was lost. The next
      // sync of the folder makes the copy's name durable; until then a power cut leaves the older copy.
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

    journal: (path) => journalFile(journalFileOf(journals, path)),

    async journals(prefix = []) {
      if (prefix.length > 0) return journalsIn(folderOf(journals, prefix), prefix);
      const names = (await foldersIn(journals)).filter((name) => !isOfHost(name) && isData(name));
      const found = names.map((name) => {
        const segment = decodeSegment([name]);
        return segment === undefined ? [] : journalsIn(join(journals, name), [segment]);
      });
      return (await Promise.all(found)).flat();
    },

    async eraseJournals(plugin) {
      const folder = join(journals, ...encodeSegment(plugin));
      for (const group of await entriesOf(folder)) {
        if (!group.isDirectory()) continue;
        const inside = join(folder, group.name);
        const names = (await entriesOf(inside)).filter((entry) => entry.isFile()).map(({ name }) => name);
        await removeFiles(
          inside,
          names.filter((name) => JOURNAL.test(name)),
        );
      }
    },

    async close() {},
  };
}

/** The path of a journal below a data folder. */
export function journalFileOf(folder: string, path: DocumentPath): string {
  return `${join(folder, ...path.flatMap(encodeSegment))}${LINES}`;
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  return (await entriesOf(folder)).filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

const LINES = '.jsonl';

/** The journals below a folder; other files are ignored. */
async function journalsIn(folder: string, path: DocumentPath): Promise<readonly JournalEntry[]> {
  const found = await Promise.all(
    (await entriesOf(folder)).map(async (entry): Promise<readonly JournalEntry[]> => {
      const isJournal = entry.isFile() && entry.name.endsWith(LINES);
      const segment = decodeSegment([isJournal ? entry.name.slice(0, -LINES.length) : entry.name]);
      if (segment === undefined) return [];
      const file = join(folder, entry.name);
      if (entry.isDirectory()) return journalsIn(file, [...path, segment]);
      if (!isJournal) return [];
      const size = (await unlessMissing(stat(file), undefined))?.size ?? 0;
      return size === 0 ? [] : [{ path: [...path, segment], bytes: size, isOwn: true }];
    }),
  );
  return found.flat().sort((one, other) => comparePaths(one.path, other.path));
}

const comparePaths = (one: DocumentPath, other: DocumentPath): number => {
  const [first, second] = [one.join('/'), other.join('/')];
  return first < second ? -1 : first === second ? 0 : 1;
};

/** Matches files of journals, also an unfinished rewrite. */
const JOURNAL = /\.jsonl(?:\.new)?$/;

/** The paths of a document and its copies. Every file of it begins with `stem.`, and no file of another document does. */
interface Place {
  readonly folder: string;
  readonly stem: string;
  /** The document. */
  readonly file: string;
  /** The document after the last successful write. */
  readonly lastGood: string;
}

const DOCUMENT = '.json';
const LAST_GOOD = '.last-good';

export function placeOf(root: string, path: DocumentPath): Place {
  const names = path.flatMap(encodeSegment);
  const stem = names.pop() ?? '';
  const folder = join(root, ...names);
  return { folder, stem, file: join(folder, `${stem}${DOCUMENT}`), lastGood: join(folder, `${stem}${LAST_GOOD}`) };
}

/** The path of a document below a folder of documents. */
export const documentFile = (root: string, path: DocumentPath): string => placeOf(root, path).file;

function folderOf(root: string, prefix: DocumentPath): string {
  return join(root, ...prefix.flatMap(encodeSegment));
}

type ConfModule = typeof import('conf');

let loaded: ConfModule | undefined;

function isListener(value: unknown): value is (...args: unknown[]) => void {
  return typeof value === 'function';
}

function signalListeners(): Map<string, readonly unknown[]> {
  const signals = process.eventNames().filter((event) => typeof event === 'string' && event.startsWith('SIG'));
  return new Map(signals.map((signal) => [signal.toString(), process.rawListeners(signal.toString())]));
}

/**
 * Loads conf at the first write, since it imports a JSON Schema compiler that costs more start time than everything else in the storage. conf's atomic writer
 * also installs handlers of SIGINT and SIGTERM that raise the signal again, which would end the host during its clean stop. They are removed again, since the
 * writes here are synchronous and leave nothing to clean up. Loading is synchronous, so that no other handler can be added in between.
 */
function loadConf(): ConfModule {
  if (loaded !== undefined) return loaded;
  const before = signalListeners();
  const conf: ConfModule = createRequire(import.meta.url)('conf');
  for (const [signal, listeners] of signalListeners()) {
    for (const listener of listeners) {
      if (isListener(listener) && !before.get(signal)?.includes(listener)) process.removeListener(signal, listener);
    }
  }
  loaded = conf;
  return conf;
}

/** Writes one document's file: a temporary file, synced, then renamed over the old one; only the user of the process can read it. */
function writeAtomically(file: string, stored: Stored): void {
  const { default: Conf } = loadConf();
  const conf = new Conf<{ version: number; data: unknown }>({
    cwd: dirname(file),
    configName: basename(file, '.json'),
    fileExtension: 'json',
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
    clearInvalidConfig: false,
    serialize: encodeStored,
    // Replaces conf's reading of the old file, which would fail on a damaged file that is about to be replaced.
    deserialize: () => ({ version: stored.version, data: stored.data }),
  });
  conf.store = { version: stored.version, data: stored.data };
}

async function unlessMissing<T, D>(operation: Promise<T>, otherwise: D): Promise<T | D> {
  try {
    return await operation;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return otherwise;
    throw error;
  }
}

/** The content of a file, `undefined` when there is none. */
async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await unlessMissing(readFile(file), undefined);
  } catch (error) {
    // Node's error has no path when reading fails after opening, as for a folder.
    if (error instanceof Error && !('path' in error)) Object.assign(error, { path: file });
    throw error;
  }
}

/** The entries of a folder; none when it does not exist. */
function entriesOf(folder: string): Promise<readonly Dirent[]> {
  return unlessMissing(readdir(folder, { withFileTypes: true }), []);
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** `wanted`, or the first of `wanted-2`, `wanted-3` … that does not exist. Only this process writes here, so the name is still free when it is used. */
async function freeName(wanted: string): Promise<string> {
  let name = wanted;
  for (let attempt = 2; await isThere(name); attempt += 1) name = `${wanted}-${attempt}`;
  return name;
}

/** Renames a file without replacing another one, which works on a full disk, too. Returns the new name. */
async function moveAside(file: string, wanted: string): Promise<string> {
  const name = await freeName(wanted);
  await renameFile(file, name);
  return name;
}

/** Copies without replacing another file. Returns the copy's name. */
async function copyAside(file: string, wanted: string): Promise<string> {
  const name = await freeName(wanted);
  await copyToNew(file, name);
  return name;
}

/** Temporary files that conf leaves when the process is killed during a write. Since its writes are synchronous, none of them is in use. */
const LEFT_BY_CONF = /\.json\.tmp-[0-9a-f]+$/;

/** A folder to visit: the path of its complete segments, and the pieces of a long segment that is not complete yet. */
interface Visit {
  readonly folder: string;
  readonly path: DocumentPath;
  readonly pieces: readonly string[];
}

/** The documents below a folder, each once, whatever copies exist. Other files are ignored; left-over temporary files are removed. */
async function walk(folder: string, path: DocumentPath): Promise<readonly DocumentPath[]> {
  const found: DocumentPath[] = [];
  const visits: Visit[] = [{ folder, path, pieces: [] }];
  for (let visit = visits.pop(); visit !== undefined; visit = visits.pop()) {
    const entries = await entriesOf(visit.folder);
    for (const entry of entries) {
      const inside = entry.isDirectory() ? enter(visit, entry.name) : undefined;
      if (inside !== undefined) visits.push(inside);
    }
    const { names, leftBehind } = sortFiles(visit.folder, entries);
    await removeFiles(visit.folder, leftBehind);
    for (const stem of new Set(names.map((name) => name.slice(0, name.indexOf('.'))))) {
      const segment = decodeSegment([...visit.pieces, stem]);
      if (segment !== undefined) found.push([...visit.path, segment]);
    }
  }
  return found;
}

function enter(from: Visit, name: string): Visit | undefined {
  const folder = join(from.folder, name);
  const pieces = [...from.pieces, name];
  if (isContinued(name)) return { folder, path: from.path, pieces };
  const segment = decodeSegment(pieces);
  return segment === undefined ? undefined : { folder, path: [...from.path, segment], pieces: [] };
}

function sortFiles(folder: string, entries: readonly Dirent[]) {
  const files = entries.filter((entry) => !entry.isDirectory() && entry.name.includes('.')).map((entry) => entry.name);
  const unfinished = leftUnfinished(folder, files);
  const isWhole = (name: string) => !LEFT_BY_CONF.test(name) && !name.endsWith('.new');
  return {
    names: files.filter(isWhole),
    leftBehind: [...files.filter((name) => LEFT_BY_CONF.test(name)), ...unfinished],
  };
}

/** Maximum length of a piece of a name, so that suffixes and temporary names fit the 255 bytes of common file systems. */
const PIECE = 100;
/** Marks a folder that contains the rest of a long name. Never part of an encoded name. */
const CONTINUED = '+';
/** Names that Windows reserves for devices, whatever the extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

function escapeByte(byte: number): string {
  return `%${byte.toString(16).padStart(2, '0')}`;
}

function escapeText(text: string): string {
  return Array.from(encoder.encode(text), (byte) => {
    const character = String.fromCharCode(byte);
    return /[a-z0-9_-]/.test(character) ? character : escapeByte(byte);
  }).join('');
}

/**
 * Encodes one segment of a document path as file names: lower case letters, digits, `_`, `-` and `%xx` of the UTF-8 bytes. So there is no traversal, no two
 * names that a case-insensitive or Unicode-normalising file system would merge, and no dot, which separates a name from its suffix. A long segment becomes
 * folders ending in `+` and a last piece.
 */
export function encodeSegment(segment: string): readonly string[] {
  const encoded = escapeText(segment);
  const pieces: string[] = [];
  for (let at = 0; at < encoded.length; at += PIECE) pieces.push(encoded.slice(at, at + PIECE));
  const last = pieces.pop() ?? '';
  const safe = DEVICE.test(last) ? `${escapeByte(last.charCodeAt(0))}${last.slice(1)}` : last;
  return [...pieces.map((piece) => `${piece}${CONTINUED}`), safe];
}

/** The segment with these file names; `undefined` when this driver did not make them. */
export function decodeSegment(pieces: readonly string[]): string | undefined {
  const encoded = pieces.map((piece, index) => (index < pieces.length - 1 ? piece.slice(0, -1) : piece)).join('');
  if (!/^(?:[a-z0-9_-]|%[0-9a-f]{2})+$/.test(encoded)) return undefined;
  const bytes = Uint8Array.from(encoded.match(/%..|./g) ?? [], (unit) =>
    unit.length === 3 ? Number.parseInt(unit.slice(1), 16) : unit.charCodeAt(0),
  );
  let segment: string;
  try {
    segment = decoder.decode(bytes);
  } catch {
    return undefined;
  }
  const own = encodeSegment(segment);
  return own.length === pieces.length && own.every((piece, index) => piece === pieces[index]) ? segment : undefined;
}

/** Whether a folder name is a piece of a long segment that continues inside. */
function isContinued(name: string): boolean {
  return name.endsWith(CONTINUED);
}
