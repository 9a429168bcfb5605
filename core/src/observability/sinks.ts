import { createRequire } from 'node:module';
import { LEVEL_NUMBERS, type Level } from './entry.js';
import { type LogFilesOptions, openLogFiles } from './log-files.js';

type Winston = typeof import('winston');

/** Where formatted lines go: the terminal, and the log files. */
export interface Sinks {
  write(level: Level, line: { readonly human: string; readonly json: string }): void;
  audit(json: string): void;
  /** Resolves when every line is in its file. */
  close(): Promise<void>;
}

export interface SinkOptions extends LogFilesOptions {
  readonly console: { readonly stream: NodeJS.WritableStream; readonly level: Level } | undefined;
}

/** Loads winston and opens the files: some 30 ms, which is why the first entry asks for it and not the host's start. */
export function openSinks(options: SinkOptions): Sinks {
  const winston: Winston = createRequire(import.meta.url)('winston');
  const { console } = options;
  const terminal =
    console === undefined
      ? undefined
      : winston.createLogger({
          levels: LEVEL_NUMBERS,
          level: console.level,
          transports: [
            new winston.transports.Stream({
              stream: console.stream,
              format: winston.format.printf(({ human }) => String(human)),
              eol: '\n',
            }),
          ],
        });
  const files = openLogFiles(options);
  return {
    write(level, { human, json }) {
      terminal?.log({ level, message: '', human });
      files.write(level, json);
    },
    audit: files.audit,
    close: files.close,
  };
}
