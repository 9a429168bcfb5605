import { type FileHandle, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { z } from 'zod';
import {
  changeFile,
  copyToNew,
  makeFolder,
  removeFiles,
  replaceFile,
  storageWriteError,
  syncFolder,
} from './durable-files.js';

/** The content of a journal. */
export interface JournalContent<T> {
  /** In the order in which they were written. */
  readonly records: readonly T[];
  /** Number of lines that could not be decoded. */
  readonly damaged: number;
  /** Whether only the last line is damaged: the result of a crash during its write. */
  readonly torn: boolean;
}

/**
 * A file of records, one JSON line each, that only grows until it is rewritten. Records that are appended during a write are combined in the next one, so that
 * a burst costs one sync and not one for each record.
 */
export interface Journal<T> {
  /** All records in the file; empty when there is none. */
  read(): Promise<JournalContent<T>>;
  /** Appends in the order of the calls. Resolves when the record would survive a power cut. @throws CINNABAR_STORAGE_WRITE; then the record is not stored */
  append(record: T): Promise<void>;
  /**
   * Replaces all earlier records, atomically: after a failure, the file has either the old or the new content.
   * @throws CINNABAR_STORAGE_WRITE
   */
  rewrite(records: Iterable<T>): Promise<void>;
  /** Size in bytes, as far as this process has written the file. */
  readonly size: number;
  /** Stores a copy of the current content, including damaged lines, under a label. Returns its path; `undefined` for an empty journal. */
  keepCopy(label: string): Promise<string | undefined>;
  /** Removes the copies for whose text `isConcerned` is true, and temporary files that a crash has left. */
  eraseCopies(isConcerned: (text: string) => boolean): Promise<void>;
  /** Deletes the journal with all copies. The next write begins a new one. */
  erase(): Promise<void>;
  /** Waits for pending writes and closes the file; the next write opens it again. */
  release(): Promise<void>;
}

/** Options of a journal on a medium. */
export interface JournalOptions<T> {
  /**
   * Returns records equivalent to all that were appended. With it, the write after a failed one rewrites the journal, so that a record that is in memory but
   * could not be written reaches the disk.
   */
  readonly snapshot?: () => Iterable<T>;
  /** Called with each write. */
  readonly watch?: WriteWatch;
}

/** A journal as a plugin declares it. */
export interface JournalDefinition<T> extends Pick<JournalOptions<T>, 'snapshot'> {
  readonly schema: z.ZodType<T>;
  /** The guild that the journal belongs to; without it, the journal belongs to the plugin as a whole. */
  readonly guildId?: string | null;
}

/** A group of journals of a plugin: one for each guild and persona, or for each channel and hour. */
export interface Journals {
  /**
   * Opens a journal. Nothing is read or written before the first call of its methods. One at a time for a path.
   * @param path names of folders and of the journal. A first name that is a guild's id, or begins with `dm-`, determines the owner of the journal; otherwise
   *   `guildId` does, and is `null` for a journal without a guild
   */
  open<T>(path: readonly string[], definition: JournalDefinition<T>): Journal<T>;
  /** The non-empty journals below a path, of all guilds of the bot. */
  list(below?: readonly string[]): Promise<readonly JournalEntry[]>;
}

/** A journal that is not empty. */
export interface JournalEntry {
  readonly path: readonly string[];
  /** Approximate size. */
  readonly bytes: number;
  /** Whether this host serves its guild; journals without a guild belong to the first host. */
  readonly isOwn: boolean;
}

/** Options of a group of journals. */
export interface JournalsOptions {
  /** The name of the group, when it is not the plugin's id. */
  readonly name?: string;
  /** A folder that the operator has chosen, for journals in files. A database stores them with everything else. */
  readonly folder?: string | undefined;
}

/** Connects writers to the monitoring of the disk. */
export interface WriteWatch {
  /** Called before each write. @throws when nothing may be written at the moment */
  check(): void;
  written(file: string): void;
  failed(error: unknown, file: string): void;
}

interface Job {
  readonly text: string;
  /** Whether the text replaces all earlier content. */
  readonly whole: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The medium of a journal's lines: a file, memory, a table. The journal writes one at a time. */
export interface JournalMedium {
  /** Name of the medium for logs. */
  readonly name: string;
  /** The whole content; empty when there is none. */
  read(): Promise<string>;
  /**
   * Appends whole lines. They are durable when it resolves; when it rejects, none of them are stored, as far as the medium can undo it. An incomplete last line
   * is ended first.
   */
  add(lines: string): Promise<void>;
  /** Replaces all lines, atomically: after a failure, the medium has either the old or the new lines. */
  replace(lines: string): Promise<void>;
  /** Size in bytes, as far as this process has written. */
  readonly size: number;
  /** Copies all lines. Returns the path of the copy; `undefined` when there are no lines. */
  keepCopy(label: string): Promise<string | undefined>;
  /** Removes the copies for whose text `isConcerned` is true. */
  eraseCopies(isConcerned: (text: string) => boolean): Promise<void>;
  /** Removes all lines and copies. */
  erase(): Promise<void>;
  /** Closes open files; the next write opens them again. */
  release(): Promise<void>;
}

/**
 * Opens a journal in a file. Nothing is read or written before the first call of its methods; the first write creates the folder. One journal at a time for a
 * file.
 */
export function openJournal<T>(file: string, schema: z.ZodType<T>, options: JournalOptions<T> = {}): Journal<T> {
  return createJournal(journalFile(file), schema, options);
}

/** Stores records on a medium: in order, in batches, and rewritten after a failure when there is a snapshot. */
export function createJournal<T>(
  medium: JournalMedium,
  schema: z.ZodType<T>,
  { snapshot, watch }: JournalOptions<T> = {},
): Journal<T> {
  let jobs: Job[] = [];
  let writing: Promise<void> | undefined;
  let isDoubtful = false;

  const write = async (batch: readonly Job[]) => {
    const from = batch.findLastIndex(({ whole }) => whole);
    if (isDoubtful && snapshot !== undefined) return medium.replace(linesOf(snapshot()));
    const text = batch.slice(Math.max(0, from)).map((job) => job.text);
    return from === -1 ? medium.add(text.join('')) : medium.replace(text.join(''));
  };

  const writeAll = async () => {
    while (jobs.length > 0) {
      const batch = jobs;
      jobs = [];
      try {
        watch?.check();
        await write(batch);
        isDoubtful = false;
        watch?.written(medium.name);
        for (const job of batch) job.resolve();
      } catch (error) {
        isDoubtful = true;
        watch?.failed(error, medium.name);
        for (const job of batch) job.reject(storageWriteError(basename(medium.name), error));
      }
    }
    writing = undefined;
  };

  const idle = async () => {
    while (writing !== undefined) await writing;
  };

  const submit = (text: string, whole: boolean) =>
    new Promise<void>((resolve, reject) => {
      jobs.push({ text, whole, resolve, reject });
      // Not immediately, so that records appended in the same turn are written together.
      writing ??= Promise.resolve().then(writeAll);
    });

  return {
    get size() {
      return medium.size;
    },
    async read() {
      return contentOf(await medium.read(), schema);
    },
    append: (record) => submit(lineOf(record), false),
    rewrite: (records) => submit(linesOf(records), true),
    keepCopy: (label) => medium.keepCopy(label),
    eraseCopies: (isConcerned) => medium.eraseCopies(isConcerned),
    async erase() {
      await idle();
      await medium.erase();
    },
    async release() {
      await idle();
      await medium.release();
    },
  };
}

/** Lines in a file that survive a power cut: the file is synced, and its folder when its name is new. */
export function journalFile(file: string): JournalMedium {
  const path = resolve(file);
  const folder = dirname(path);
  let handle: FileHandle | undefined;
  /** The end of the complete, synced records. */
  let size = 0;
  /** Line end that has to precede the next record, after an incomplete line. */
  let lineEnd = '';

  const openFile = async (): Promise<FileHandle> => {
    await makeFolder(folder);
    // The temporary file of a process that died during a rewrite.
    await rm(`${path}.new`, { force: true });
    const opened = await open(path, 'a+', 0o600);
    try {
      size = (await opened.stat()).size;
      lineEnd = (await endsInLine(opened, size)) ? '' : '\n';
      // The file may have been created by a process that ended before the sync of its folder.
      await syncFolder(folder);
    } catch (error) {
      await opened.close();
      throw error;
    }
    return opened;
  };

  const letGo = async () => {
    const opened = handle;
    handle = undefined;
    await opened?.close();
  };

  return {
    name: path,
    read: () => readText(path),
    add: (lines) =>
      changeFile(path, async () => {
        // Writing to a file that was deleted succeeds, and its lines are lost.
        if (handle !== undefined && !(await isAt(handle, path))) await letGo();
        handle ??= await openFile();
        const bytes = Buffer.from(lineEnd + lines);
        try {
          await handle.appendFile(bytes);
          await handle.datasync();
        } catch (error) {
          // Removes lines that were written partly, or without a sync, so that a rejected record does not reappear.
          await handle.truncate(size).catch(() => undefined);
          await letGo().catch(() => undefined);
          throw error;
        }
        size += bytes.length;
        lineEnd = '';
      }),
    async replace(lines) {
      await letGo();
      await makeFolder(folder);
      await replaceFile(path, lines);
      size = Buffer.byteLength(lines);
    },
    get size() {
      return size;
    },
    async keepCopy(label) {
      const copy = `${path}.${label}`;
      // A copy with the same label has the same damage.
      await rm(copy, { force: true });
      if ((await readText(path)) === '') return undefined;
      await copyToNew(path, copy);
      return copy;
    },
    async eraseCopies(isConcerned) {
      const concerned: string[] = [];
      for (const name of await copiesOf(path)) {
        const content = await readFile(join(folder, name), 'utf8').catch(() => undefined);
        if (content === undefined || name.endsWith('.new') || isConcerned(content)) concerned.push(name);
      }
      await removeFiles(folder, concerned);
    },
    async erase() {
      await letGo();
      await removeFiles(folder, [basename(path), ...(await copiesOf(path))]);
      size = 0;
      lineEnd = '';
    },
    release: letGo,
  };
}

/** Names of the copies of a file, and of temporary files that a crash has left. */
async function copiesOf(path: string): Promise<readonly string[]> {
  const names = await readdir(dirname(path)).catch(() => []);
  return names.filter((name) => name.startsWith(`${basename(path)}.`));
}

/** Whether the path still leads to the open file. */
async function isAt(handle: FileHandle, path: string): Promise<boolean> {
  const [opened, named] = await Promise.all([handle.stat(), stat(path).catch(() => undefined)]);
  return opened.ino === named?.ino && opened.dev === named.dev;
}

const lineOf = (record: unknown): string => `${JSON.stringify(record)}\n`;
const linesOf = (records: Iterable<unknown>): string => [...records].map(lineOf).join('');

/** Whether the file ends with a complete line: an incomplete one after a crash would swallow the next record. */
async function endsInLine(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return true;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString() === '\n';
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

function contentOf<T>(text: string, schema: z.ZodType<T>): JournalContent<T> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const read = lines.map((line) => decodeLine(line, schema));
  const records = read.flatMap((result) => (result === undefined ? [] : [result.record]));
  const damaged = lines.length - records.length;
  return { records, damaged, torn: damaged === 1 && read.at(-1) === undefined };
}

/** Decodes a line; `undefined` when it is not a record: torn by a crash, or damaged. */
export function decodeLine<T>(line: string, schema: z.ZodType<T>): { readonly record: T } | undefined {
  try {
    const { success, data } = schema.safeParse(JSON.parse(line));
    return success ? { record: data } : undefined;
  } catch {
    return undefined;
  }
}
