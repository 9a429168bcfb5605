/** Ids and facts of an entry. Secrets are redacted by the host. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured log, bound to its component. Message first, facts in fields: `log.info('card posted', { callId })`. */
export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  /** The same logger with more fields on each entry. */
  child(fields: LogFields): Logger;
}
