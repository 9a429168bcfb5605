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
/** The number of files into which the maximum size is divided, so that old ones can be removed one by one. */
const PARTS = 20;
/** The number of parts that are kept free, for the growth of the day's three files until the next check. */
const GROWING = 3;
/** After a failure, the files are opened again with the first entry after this time. */
const RETRY_MS = 10_000;
/** Interval of the check whether the folder still exists. */
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
  /** The maximum size of all log files together. */
  readonly maxBytes: number;
  readonly now: () => number;
  /** Called each time when the files can no longer be written. They are opened again later. */
  readonly onFailure: (error: Error) => void;
}

/** Opens the log files. While they cannot be written, entries are dropped; afterwards an entry gives their number. */
export function openLogFiles(options: LogFilesOptions): LogFiles {
  const { dir, now, onFailure } = options;
  let files: LogFiles | undefined;
  let failedAt: number | undefined;
  let reason = '';
  let missing = 0;
  let lookedAt = now();
  let folder = 0;

  const closeQuietly = (old: LogFiles | undefined) => {
    // Not awaited, since the disk may have failed. Open files do not keep the process alive.
    old?.close().catch(() => undefined);
  };

  const open = (): LogFiles => {
    const opened: LogFiles = openOnce(options, (error) => {
      // Errors of a closed stream are ignored.
      if (files !== opened) return;
      files = undefined;
      closeQuietly(opened);
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
    // The entry starts with a line break, since the last line may have been cut off.
    const message = `${missing} entries are missing here: the log files could not be written (${reason})`;
    missing = 0;
    const json = safeJson({ time: new Date(now()).toISOString(), level: 'warn', component: 'log', message });
    opened.write('warn', `\n${json}`);
    return opened;
  };

  /** The files to write to; none directly after a failure. */
  const current = (): LogFiles | undefined => {
    if (failedAt !== undefined) {
      if (now() - failedAt >= RETRY_MS) return resume();
      missing += 1;
      return undefined;
    }
    if (now() - lookedAt >= LOOK_MS) {
      lookedAt = now();
      sweep(options);
      // Writes into a removed folder succeed, and their data are lost.
      if (folderAt(dir) !== folder) {
        closeQuietly(files);
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

/** Removes the oldest files above the limit. Does not count data that are still in the streams, so it has to be repeated. */
function sweep({ dir, maxBytes }: LogFilesOptions): void {
  try {
    removeOldest(dir, maxBytes - (GROWING * maxBytes) / PARTS);
  } catch {
    // A folder that cannot be read cannot be written either: that is reported at the next write.
  }
}

const folderAt = (dir: string): number => statSync(dir, { throwIfNoEntry: false })?.ino ?? 0;

/** @param onFailure called with the first failure, and possibly with further ones */
function openOnce(options: LogFilesOptions, onFailure: (error: Error) => void): LogFiles {
  const { dir, level, maxBytes } = options;
  const require = createRequire(import.meta.url);
  const winston: Winston = require('winston');
  const RotatingFile: DailyRotateFileModule = require('winston-daily-rotate-file');
  const line = winston.format.printf(({ json }) => String(json));
  /** Each resolves when all data of its transport are on the disk. */
  const files = new Map<DailyRotateFile, Promise<void>>();
  // Deferred, since `onFailure` must not be called before `openOnce` has returned.
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

/**
 * Removes log files, the oldest first and those of the audit last, until the rest has at most `maxBytes`; never the newest of a kind, which is being written.
 */
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

/** Resolves when every file of the transport has ended: today's, and those of earlier days, which may still be open. */
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
/** The fields that are kept when a person's texts are removed from an entry. */
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
/** Marks entries with bodies of requests to models, which contain members' texts without their ids. */
const TRACE = '"level":"trace"';
const FORGOTTEN = '(deleted with the data of the member)';

/** Removes a person's texts from the log files: entries about them, and all traces, keep only their metadata. The files must not be open for writing. */
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
    // An incomplete line cannot be attributed, so it is removed.
    return '';
  }
}
