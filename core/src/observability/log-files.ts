import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { replaceFile } from '@cinnabar/sdk';
import type { Logger as WinstonLogger, transport as WinstonTransport } from 'winston';
import type DailyRotateFile from 'winston-daily-rotate-file';
import { LEVEL_NUMBERS, type Level, safeJson } from './log-entry.js';

type Winston = typeof import('winston');
type DailyRotateFileModule = typeof import('winston-daily-rotate-file');

/** Days of logs that are kept. */
const KEPT = '30d';
/** Into so many files the most that is kept is cut, so that there are old ones to remove. */
const PARTS = 20;
/** Room for what the three files of the day grow by before the next look. */
const GROWING = 3;
/** After a failure the files are opened again with the first entry after so long. */
const RETRY_MS = 10_000;
/** How often it is looked whether the folder is still there. */
const LOOK_MS = 60_000;
/** `cinnabar-2026-11-22.log`, and after that `cinnabar-2026-11-22.log.1`. */
export const LOG_FILE = /^(cinnabar|errors|audit)-(\d{4}-\d\d-\d\d)\.log(?:\.(\d+))?$/;

/** The day's file, the day's errors, and the day's audit. */
interface LogFiles {
  write(level: Level, json: string): void;
  audit(json: string): void;
  /** Resolves when every line is in its file. */
  close(): Promise<void>;
}

export interface LogFilesOptions {
  readonly dir: string;
  readonly level: Level;
  /** The most that all log files may take together. */
  readonly maxBytes: number;
  readonly now: () => number;
  /** Hears of each time that the files can be written no more. They are opened again by and by. */
  readonly onFailure: (error: Error) => void;
}

/** Opens the log files. When they cannot be written, entries are passed over until they can, and then it says so in them. */
export function openLogFiles(options: LogFilesOptions): LogFiles {
  const { dir, now, onFailure } = options;
  let files: LogFiles | undefined;
  let failedAt: number | undefined;
  let reason = '';
  let missing = 0;
  let lookedAt = now();
  let folder = 0;

  const letGo = (old: LogFiles | undefined) => {
    // What it holds can be lost with the disk; the process is not kept for it.
    old?.close().catch(() => undefined);
  };

  const open = (): LogFiles => {
    const opened: LogFiles = openOnce(options, (error) => {
      // One that was let go of has nothing more to say.
      if (files !== opened) return;
      files = undefined;
      letGo(opened);
      failedAt = now();
      reason = error.message;
      onFailure(error);
    });
    files = opened;
    folder = folderAt(dir);
    return opened;
  };

  const resume = (): LogFiles => {
    failedAt = undefined;
    const opened = open();
    // It starts a line of its own, whatever the last one was cut to.
    const message = `${missing} entries are missing here: the log files could not be written (${reason})`;
    missing = 0;
    const json = safeJson({ time: new Date(now()).toISOString(), level: 'warn', component: 'log', message });
    opened.write('warn', `\n${json}`);
    return opened;
  };

  /** The files to write to; none while they have just failed. */
  const current = (): LogFiles | undefined => {
    if (failedAt !== undefined) {
      if (now() - failedAt >= RETRY_MS) return resume();
      missing += 1;
      return undefined;
    }
    if (now() - lookedAt >= LOOK_MS) {
      lookedAt = now();
      sweep(options);
      // Writes into a removed folder succeed, and the data is lost.
      if (folderAt(dir) !== folder) {
        letGo(files);
        files = undefined;
      }
    }
    return files ?? open();
  };

  open();
  return {
    write: (level, json) => current()?.write(level, json),
    audit: (json) => current()?.audit(json),
    async close() {
      await files?.close();
      sweep(options);
    },
  };
}

/** What is in the streams is not counted yet, so this is done again now and then. */
function sweep({ dir, maxBytes }: LogFilesOptions): void {
  try {
    removeOldest(dir, maxBytes - (GROWING * maxBytes) / PARTS);
  } catch {
    // A folder that cannot be read is one that cannot be written: that is said when it is written to.
  }
}

const folderAt = (dir: string): number => statSync(dir, { throwIfNoEntry: false })?.ino ?? 0;

/** @param onFailure called with the first failure, and perhaps with more */
function openOnce(options: LogFilesOptions, onFailure: (error: Error) => void): LogFiles {
  const { dir, level, maxBytes } = options;
  const require = createRequire(import.meta.url);
  const winston: Winston = require('winston');
  const RotatingFile: DailyRotateFileModule = require('winston-daily-rotate-file');
  const line = winston.format.printf(({ json }) => String(json));
  /** Each resolves when all of its transport is on the disk. */
  const files = new Map<DailyRotateFile, Promise<void>>();
  // Those who open a file hear of it later than those who wait for its failure here.
  const fail = (error: unknown) => {
    queueMicrotask(() => onFailure(error instanceof Error ? error : new Error(String(error))));
  };

  const file = (name: string, least: Level): readonly WinstonTransport[] => {
    try {
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      const transport = new RotatingFile({
        dirname: dir,
        filename: `${name}-%DATE%.log`,
        datePattern: 'YYYY-MM-DD',
        utc: true,
        maxFiles: KEPT,
        maxSize: Math.floor(maxBytes / PARTS),
        auditFile: `${dir}/.${name}-files.json`,
        options: { flags: 'a', mode: 0o600 },
        level: least,
        format: line,
      });
      files.set(transport, flushed(transport));
      // Without an error listener a full disk would end the process.
      transport.logStream.on('error', (error: Error) => {
        files.delete(transport);
        fail(error);
      });
      transport.on('new', () => sweep(options));
      return [transport];
    } catch (error) {
      fail(error);
      return [];
    }
  };

  const main = winston.createLogger({
    levels: LEVEL_NUMBERS,
    level: 'trace',
    transports: [...file('cinnabar', level), ...file('errors', 'error')],
  });
  const audit = winston.createLogger({ level: 'info', transports: [...file('audit', 'info')] });
  const loggers = [main, audit].filter(({ transports }) => transports.length > 0);
  for (const logger of loggers) logger.on('error', fail);
  sweep(options);

  return {
    write: (level, json) => void (loggers.includes(main) && main.log({ level, message: '', json })),
    audit: (json) => void (loggers.includes(audit) && audit.log({ level: 'info', message: '', json })),
    async close() {
      await Promise.all(loggers.map(ended));
      await Promise.all(files.values());
    },
  };
}

/** Removes log files, the oldest first and the audit last, until the others take no more than that; never the newest of a kind, which is being written. */
function removeOldest(dir: string, maxBytes: number): void {
  const found = readdirSync(dir).flatMap((name) => {
    const [, kind, day = '', part = '0'] = LOG_FILE.exec(name) ?? [];
    const stats = kind === undefined ? undefined : statSync(join(dir, name), { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ name, kind, age: `${day}.${part.padStart(6, '0')}`, size: stats.size }];
  });
  let total = found.reduce((sum, { size }) => sum + size, 0);
  const order = found.sort(
    (one, other) => Number(one.kind === 'audit') - Number(other.kind === 'audit') || (one.age < other.age ? -1 : 1),
  );
  for (const { name, size, kind, age } of order) {
    if (total <= maxBytes) return;
    if (!found.some((other) => other.kind === kind && other.age > age)) continue;
    rmSync(join(dir, name), { force: true });
    total -= size;
  }
}

function ended(logger: WinstonLogger): Promise<void> {
  return new Promise((resolve) => {
    logger.once('finish', () => resolve());
    logger.end();
  });
}

/** Resolves when every file that the transport has opened has ended: today's, and those of the days before, which may still be under way. */
function flushed(file: DailyRotateFile): Promise<void> {
  return new Promise((resolve) => {
    let left = 1;
    file.logStream.on('rotate', () => {
      left += 1;
    });
    file.logStream.on('finish', () => {
      left -= 1;
      if (left === 0) resolve();
    });
    file.logStream.once('error', () => resolve());
  });
}

const ANY_LOG_FILE = /^(?:cinnabar|errors|audit)-.*\.log(?:\.\d+)?$/;
/** What of an entry says who, where, what and how, and no more than that. */
const KEPT_FIELDS = new Set([
  ...[
    'time',
    'level',
    'component',
    'message',
    'callId',
    'tool',
    'plugin',
    'origin',
    'argumentsHash',
    'policy',
    'outcome',
    'code',
  ],
  ...[
    'startedAt',
    'latencyMs',
    'ranMs',
    'heldBy',
    'decidedBy',
    'actor',
    'at',
    'taskId',
    'channelId',
    'guildId',
    'userId',
  ],
]);
/** Bodies of requests to models hold the words of members without their ids. */
const TRACE = '"level":"trace"';
const FORGOTTEN = '(deleted with the data of the member)';

/**
 * Takes a person's words out of the log files: of every entry about them, and of every trace, only that it happened stays. The files must
 * not be open for writing.
 */
export async function forgetInLogs(dir: string, userId: string): Promise<void> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const name of names.filter((one) => ANY_LOG_FILE.test(one))) {
    const path = join(dir, name);
    const text = await readFile(path, 'utf8');
    const isConcerned = (part: string) => part.includes(userId) || part.includes(TRACE);
    if (!isConcerned(text)) continue;
    const lines = text.split('\n').map((line) => (isConcerned(line) ? withoutWords(line) : line));
    await replaceFile(path, lines.join('\n'));
  }
}

function withoutWords(line: string): string {
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry !== 'object' || entry === null) return '';
    const kept = Object.entries(entry).map(([key, value]) => [key, KEPT_FIELDS.has(key) ? value : FORGOTTEN] as const);
    return JSON.stringify(Object.fromEntries(kept));
  } catch {
    // Half a line says nothing that can be told apart.
    return '';
  }
}
