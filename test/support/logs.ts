import type { LogFields, Logger } from '@cinnabar/sdk';

export interface LogEntry {
  readonly level: 'error' | 'warn' | 'info' | 'debug' | 'trace';
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that records its entries, for assertions. */
export function recordingLogger(
  entries: LogEntry[] = [],
  bound: LogFields = {},
): Logger & { readonly entries: readonly LogEntry[] } {
  const write =
    (level: LogEntry['level']) =>
    (message: string, fields: LogFields = {}) => {
      entries.push({ level, message, fields: { ...bound, ...fields } });
    };
  return {
    entries,
    error: write('error'),
    warn: write('warn'),
    info: write('info'),
    debug: write('debug'),
    trace: write('trace'),
    traces: false,
    child: (fields) => recordingLogger(entries, { ...bound, ...fields }),
  };
}
