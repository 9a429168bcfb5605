import { type FileHandle, open, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { storageWriteError } from './disk-trouble.js';
import { makeFolder, replaceFile, syncFolder } from './durable-files.js';

/** What a journal holds. */
export interface JournalContent<T> {
  /** In the order in which they were written. */
  readonly records: readonly T[];
  /** Lines that are no records. */
  readonly damaged: number;
  /** Whether only the last line is one of those: what a process or a machine that went down while it was written leaves behind. */
  readonly torn: boolean;
}

/**
 * A file of records, one line of JSON each, to which is only ever added, until it is written anew. What is asked for while a write is under way
 * goes with the next one, so that a burst costs one sync, not one a record.
 */
export interface Journal<T> {
  /** Everything that is in the file; nothing when there is none. */
  read(): Promise<JournalContent<T>>;
  /** Resolves when the record outlives a power cut. In the order of the calls. @throws CINNABAR_STORAGE_WRITE, and the record is not there */
  append(record: T): Promise<void>;
  /**
   * Puts these in the place of all that was handed over before, in one step: whatever happens, the file is the old one or the new one.
   * @throws CINNABAR_STORAGE_WRITE
   */
  rewrite(records: Iterable<T>): Promise<void>;
  /** Bytes in the file, as far as this process has written it. */
  readonly size: number;
  /** Waits for what is under way and lets go of the file; the next write opens it again. */
  release(): Promise<void>;
}

export interface JournalOptions<T> {
  /**
   * What all records handed over add up to. With it, the write after one that failed writes the journal anew, so that a record that was kept
   * in memory although it could not be written reaches the disk after all.
   */
  readonly snapshot?: () => Iterable<T>;
  /** Hears of each write. */
  readonly watch?: WriteWatch;
}

/** Stands between the writers of a disk and those who want to know how it does. */
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

/** Opens a journal: nothing is read or written before it is asked for. The folder is made with the first write. One journal at a time for a file. */
export function openJournal<T>(file: string, schema: z.ZodType<T>, options: JournalOptions<T> = {}): Journal<T> {
  const path = resolve(file);
  const folder = dirname(path);
  const { snapshot, watch } = options;
  let handle: FileHandle | undefined;
  /** Up to here the file holds whole records that are kept. */
  let size = 0;
  /** What has to come before the next record. */
  let lineEnd = '';
  let jobs: Job[] = [];
  let writing: Promise<void> | undefined;
  let isDoubtful = false;

  const openFile = async (): Promise<FileHandle> => {
    await makeFolder(folder);
    // What a process that died left of writing it anew.
    await rm(`${path}.new`, { force: true });
    const opened = await open(path, 'a+', 0o600);
    try {
      size = (await opened.stat()).size;
      lineEnd = (await endsInLine(opened, size)) ? '' : '\n';
      // Its name may be an earlier process's, which had no time to sync it.
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

  const add = async (text: string) => {
    // Into a file that was taken away one can go on writing, and nobody finds it there.
    if (handle !== undefined && !(await isAt(handle, path))) await letGo();
    handle ??= await openFile();
    const bytes = Buffer.from(lineEnd + text);
    try {
      await handle.appendFile(bytes);
      await handle.datasync();
    } catch (error) {
      // Part of it may be there, or all of it without being kept: it goes, so that what was refused does not come back.
      await handle.truncate(size).catch(() => undefined);
      await letGo().catch(() => undefined);
      throw error;
    }
    size += bytes.length;
    lineEnd = '';
  };

  const replace = async (text: string) => {
    await letGo();
    await makeFolder(folder);
    await replaceFile(path, text);
    size = Buffer.byteLength(text);
  };

  const write = async (batch: readonly Job[]) => {
    const from = batch.findLastIndex(({ whole }) => whole);
    if (isDoubtful && snapshot !== undefined) return replace(linesOf(snapshot()));
    const text = batch.slice(Math.max(0, from)).map((job) => job.text);
    return from === -1 ? add(text.join('')) : replace(text.join(''));
  };

  const writeAll = async () => {
    while (jobs.length > 0) {
      const batch = jobs;
      jobs = [];
      try {
        watch?.check();
        await write(batch);
        isDoubtful = false;
        watch?.written(path);
        for (const job of batch) job.resolve();
      } catch (error) {
        isDoubtful = true;
        watch?.failed(error, path);
        for (const job of batch) job.reject(storageWriteError(basename(path), error));
      }
    }
    writing = undefined;
  };

  const submit = (text: string, whole: boolean) =>
    new Promise<void>((resolve, reject) => {
      jobs.push({ text, whole, resolve, reject });
      // Not at once: what is asked for in the same breath goes with the first write.
      writing ??= Promise.resolve().then(writeAll);
    });

  return {
    get size() {
      return size;
    },
    async read() {
      return contentOf(await readText(path), schema);
    },
    append: (record) => submit(lineOf(record), false),
    rewrite: (records) => submit(linesOf(records), true),
    async release() {
      while (writing !== undefined) await writing;
      await letGo();
    },
  };
}

/** Whether the open file is still the one of that name. */
async function isAt(handle: FileHandle, path: string): Promise<boolean> {
  const [opened, named] = await Promise.all([handle.stat(), stat(path).catch(() => undefined)]);
  return opened.ino === named?.ino && opened.dev === named.dev;
}

const lineOf = (record: unknown): string => `${JSON.stringify(record)}\n`;
const linesOf = (records: Iterable<unknown>): string => [...records].map(lineOf).join('');

/** What a crash left without its end must not swallow the next line. */
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
