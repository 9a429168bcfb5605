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
  /** Lines that are no records. */
  readonly damaged: number;
  /** Whether only the last line is damaged: the result of a crash during its write. */
  readonly torn: boolean;
}

/**
 * A file of records, one JSON line each, that only grows until it is rewritten. Records that are appended during a write are written together with the next
 * one, so that a burst costs one sync and not one for each record.
 */
export interface Journal<T> {
  /** All records in the file; empty when there is none. */
  read(): Promise<JournalContent<T>>;
  /** Resolves when the record would survive a power cut. In the order of the calls. @throws CINNABAR_STORAGE_WRITE, and the record is not stored */
  append(record: T): Promise<void>;
  /**
   * Replaces all earlier records, atomically: after any failure, the file is the old one or the new one.
   * @throws CINNABAR_STORAGE_WRITE
   */
  rewrite(records: Iterable<T>): Promise<void>;
  /** Bytes in the file, as far as this process has written it. */
  readonly size: number;
  /** Keeps a copy of the present content, including damaged lines, under a label. Returns where; `undefined` when it is empty. */
  keepCopy(label: string): Promise<string | undefined>;
  /** Removes the copies for whose text this is true, and temporary files that a crash has left. */
  eraseCopies(isConcerned: (text: string) => boolean): Promise<void>;
  /** Deletes it with all copies. The next write begins a new one. */
  erase(): Promise<void>;
  /** Waits for pending writes and closes the file; the next write opens it again. */
  release(): Promise<void>;
}

export interface JournalOptions<T> {
  /**
   * The records with the same meaning as all that were appended. With it, the write after a failed one rewrites the journal, so that a record that is in memory
   * but could not be written reaches the disk.
   */
  readonly snapshot?: () => Iterable<T>;
  /** Called with each write. */
  readonly watch?: WriteWatch;
}

/** A journal as a plugin declares it. */
export interface JournalDefinition<T> extends Pick<JournalOptions<T>, 'snapshot'> {
  readonly schema: z.ZodType<T>;
  /** The guild that it belongs to; left out, it belongs to the plugin as a whole. */
  readonly guildId?: string | null;
}

/** A group of journals of a plugin: one for each guild and persona, or for each channel and hour. */
export interface Journals {
  /**
   * Opens one: nothing is read or written before it is asked for. One at a time for a path.
   * @param path names of folders and of the journal. Where the first is a guild's id, or begins with `dm-`, that says whose the journal is; others say it by
   *   `guildId`, which is `null` for one of no guild
   */
  open<T>(path: readonly string[], definition: JournalDefinition<T>): Journal<T>;
  /** The non-empty ones below a path, of all guilds of the bot. */
  list(below?: readonly string[]): Promise<readonly JournalEntry[]>;
}

/** A journal that holds something. */
export interface JournalEntry {
  readonly path: readonly string[];
  /** Its approximate size. */
  readonly bytes: number;
  /** Whether this host serves its guild; journals without a guild belong to the first host. */
  readonly isOwn: boolean;
}

export interface JournalsOptions {
  /** The name of the group, when it is not the plugin's id. */
  readonly name?: string;
  /** A folder that the operator has chosen, for journals in files. A database stores them with everything else. */
  readonly folder?: string | undefined;
}

/** Connects the writers of a disk with its monitoring. */
export interface WriteWatch {
  /** Before each write. @throws when nothing may be written now */
  check(): void;
  written(file: string): void;
  failed(error: unknown, file: string): void;
}

interface Job {
  readonly text: string;
  /** Whether the text takes the place of all that came before. */
  readonly whole: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The medium of a journal's lines: a file, memory, a table. The journal writes one at a time. */
export interface JournalMedium {
  /** For logs. */
  readonly name: string;
  /** All added text; empty when there is none. */
  read(): Promise<string>;
  /**
   * Appends whole lines. Durable when it resolves; when it rejects, none of them are stored, as far as the medium can undo it. When the last line is
   * incomplete, they begin a new one.
   */
  add(lines: string): Promise<void>;
  /** Replaces all lines, atomically: after any failure, there are the old ones or the new ones. */
  replace(lines: string): Promise<void>;
  /** Bytes, as far as this process has written. */
  readonly size: number;
  /** Copies all lines. Returns where to; `undefined` when there are none. */
  keepCopy(label: string): Promise<string | undefined>;
  /** Removes the copies for whose text this is true. */
  eraseCopies(isConcerned: (text: string) => boolean): Promise<void>;
  /** Removes everything, copies too. */
  erase(): Promise<void>;
  /** Closes open files; the next write opens them again. */
  release(): Promise<void>;
}

/** Opens a journal in a file: nothing is read or written before it is asked for. The folder is made with the first write. One journal at a time for a file. */
export function openJournal<T>(file: string, schema: z.ZodType<T>, options: JournalOptions<T> = {}): Journal<T> {
  return createJournal(journalFile(file), schema, options);
}

/** Records on a medium: in order, in batches, and rewritten after a failure when there is a snapshot. */
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
  /** Up to here the file contains complete, synced records. */
  let size = 0;
  /** Text that has to precede the next record. */
  let lineEnd = '';

  const openFile = async (): Promise<FileHandle> => {
    await makeFolder(folder);
    // The unfinished file of a process that died while it rewrote the journal.
    await rm(`${path}.new`, { force: true });
    const opened = await open(path, 'a+', 0o600);
    try {
      size = (await opened.stat()).size;
      lineEnd = (await endsInLine(opened, size)) ? '' : '\n';
      // Its name may come from an earlier process that had no time to sync it.
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
          // A part of it may have been written, or all of it without a sync: it is removed, so that a refused record does not reappear.
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
      // One of the same moment is of the same damage.
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

/** Names of the copies of a file, and of what a crash left of writing it anew. */
async function copiesOf(path: string): Promise<readonly string[]> {
  const names = await readdir(dirname(path)).catch(() => []);
  return names.filter((name) => name.startsWith(`${basename(path)}.`));
}

/** Whether the open file is still the one of that name. */
async function isAt(handle: FileHandle, path: string): Promise<boolean> {
  const [opened, named] = await Promise.all([handle.stat(), stat(path).catch(() => undefined)]);
  return opened.ino === named?.ino && opened.dev === named.dev;
}

const lineOf = (record: unknown): string => `${JSON.stringify(record)}\n`;
const linesOf = (records: Iterable<unknown>): string => [...records].map(lineOf).join('');

/** An incomplete line after a crash must not swallow the next line. */
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

/** `undefined` for a line that is no record: torn by a crash, or damaged. */
export function decodeLine<T>(line: string, schema: z.ZodType<T>): { readonly record: T } | undefined {
  try {
    const { success, data } = schema.safeParse(JSON.parse(line));
    return success ? { record: data } : undefined;
  } catch {
    return undefined;
  }
}
