import { createRequire } from 'node:module';
import type { Logger as WinstonLogger, transport as WinstonTransport } from 'winston';
import type DailyRotateFile from 'winston-daily-rotate-file';
import type { Level } from './entry.js';

type Winston = typeof import('winston');
type DailyRotateFileModule = typeof import('winston-daily-rotate-file');

/** Days of logs that are kept. */
const KEPT = '30d';

/** Where formatted lines go: the terminal, the day's file, the day's errors; and the day's audit. */
export interface Sinks {
  write(level: Level, line: { readonly human: string; readonly json: string }): void;
  audit(json: string): void;
  /** Resolves when every line is in its file. */
  close(): Promise<void>;
}

export interface SinkOptions {
  readonly dir: string;
  readonly level: Level;
  readonly console: { readonly stream: NodeJS.WritableStream; readonly level: Level } | undefined;
  /** Told whenever a file cannot be written. Logging goes on without it. */
  readonly onFailure: (error: Error) => void;
}

/** Loads winston and opens the files: some 30 ms, which is why the first entry asks for it and not the host's start. */
export function openSinks(options: SinkOptions): Sinks {
  const require = createRequire(import.meta.url);
  const winston: Winston = require('winston');
  const RotatingFile: DailyRotateFileModule = require('winston-daily-rotate-file');
  const line = (kind: 'human' | 'json') => winston.format.printf((info) => String(info[kind]));
  const files = new Set<DailyRotateFile>();

  const file = (name: string, level: Level): readonly WinstonTransport[] => {
    try {
      const transport = new RotatingFile({
        dirname: options.dir,
        filename: `${name}-%DATE%.log`,
        datePattern: 'YYYY-MM-DD',
        utc: true,
        maxFiles: KEPT,
        auditFile: `${options.dir}/.${name}-files.json`,
        options: { flags: 'a', mode: 0o600 },
        level,
        format: line('json'),
      });
      files.add(transport);
      // Nobody else listens there: without this, a full disk would end the process.
      transport.logStream.on('error', (error: Error) => {
        files.delete(transport);
        options.onFailure(error);
      });
      return [transport];
    } catch (error) {
      options.onFailure(error instanceof Error ? error : new Error(String(error)));
      return [];
    }
  };

  const { console } = options;
  const terminal =
    console === undefined
      ? []
      : [
          new winston.transports.Stream({
            stream: console.stream,
            level: console.level,
            format: line('human'),
            eol: '\n',
          }),
        ];
  const main = winston.createLogger({
    level: 'debug',
    transports: [...terminal, ...file('cinnabar', options.level), ...file('errors', 'error')],
  });
  const audit = winston.createLogger({ level: 'info', transports: [...file('audit', 'info')] });
  const loggers = [main, audit].filter(({ transports }) => transports.length > 0);
  for (const logger of loggers) logger.on('error', options.onFailure);

  return {
    write: (level, { human, json }) => void (loggers.includes(main) && main.log({ level, message: '', human, json })),
    audit: (json) => void (loggers.includes(audit) && audit.log({ level: 'info', message: '', json })),
    async close() {
      const written = [...files].map(flushed);
      await Promise.all(loggers.map(ended));
      await Promise.all(written);
    },
  };
}

function ended(logger: WinstonLogger): Promise<void> {
  return new Promise((resolve) => {
    logger.once('finish', () => resolve());
    logger.end();
  });
}

/** The transport says `finish` when its object stream has ended, and again when the file behind it has: the second is the one that counts. */
function flushed(file: DailyRotateFile): Promise<void> {
  return new Promise((resolve) => {
    let finished = 0;
    file.on('finish', () => {
      finished += 1;
      if (finished === 2) resolve();
    });
    file.logStream.once('error', () => resolve());
  });
}
