import { createRequire } from 'node:module';
import { styleText } from 'node:util';
import {
  type AuditLog,
  type Clock,
  type Collection,
  type LogFields,
  type Logger,
  type LogReader,
  type PersonalData,
  z,
} from '@cinnabar/sdk';
import {
  createRedactor,
  type Entry,
  flat,
  LEVEL_NUMBERS,
  LEVELS,
  type Level,
  MAX_TRACE_TEXT,
  oneLine,
  type Plain,
  type PlainRecord,
  type Redactor,
  safeJson,
  toPlain,
  toPlainRecord,
} from './log-entry.js';
import { forgetInLogs, type LogFilesOptions, openLogFiles } from './log-files.js';
import { createLogReader, originOf } from './log-reader.js';

export interface LogsOptions {
  /** Folder of the files: `cinnabar-YYYY-MM-DD.log`, `errors-…`, `audit-…`, JSON lines, days in UTC, kept for 30 days. */
  readonly dir: string;
  /** Whether entries are written to files at all; by default they are. */
  readonly files?: boolean | undefined;
  /** Least important level that goes to the files. */
  readonly level: Level;
  /** The terminal, normally standard error; left out for none. */
  readonly console?: { readonly stream: NodeJS.WritableStream & { readonly isTTY?: boolean }; readonly level: Level };
  /** Called with every entry as it is logged, without secrets. Must not throw. */
  readonly onEntry?: ((entry: Entry) => void) | undefined;
  readonly clock: Clock;
  readonly redactor?: Redactor;
  /** The maximum size of all log files together, in millions of bytes: above it the oldest are removed. By default 500. */
  readonly maxMegabytes?: number;
}

const MAX_MEGABYTES = 500;
/** Time after which a new failure of the files is shown on the terminal again. */
const QUIET_MS = 60 * 60_000;

/** The host's logs. Secrets known to `redactor`, and everything with the form of one, are removed from every entry. */
export interface Logs {
  /** A logger whose entries carry the component: a service of the host, or a plugin's id. */
  logger(component: string): Logger;
  /** Writes to the audit file only, whatever the level. */
  audit(entry: LogFields): void;
  readonly redactor: Redactor;
  /** Reads entries from the files. */
  readonly reader: LogReader;
  /** Removes a person's texts from every file; metadata stay. */
  forget(userId: string): Promise<void>;
  /** Resolves when every entry is in its file. Later entries are dropped. */
  close(): Promise<void>;
}

type Waiting = (sinks: Sinks) => void;

/** Delay of loading winston: longer than the start of the host takes. */
const OPEN_AFTER_MS = 1_000;

/**
 * Opens the logs. Winston is loaded a second later, so that logging does not slow the start; a warning, an error or the end loads it at once. Entries wait
 * until then.
 */
export function createLogs(options: LogsOptions): Logs {
  const { dir, level, console, clock, redactor = createRedactor(), maxMegabytes = MAX_MEGABYTES } = options;
  const { files = true } = options;
  const least = Math.max(LEVELS.indexOf(level), console === undefined ? -1 : LEVELS.indexOf(console.level));
  let sinks: Sinks | undefined;
  let waiting: Waiting[] = [];
  let closed = false;
  let opening: NodeJS.Timeout | undefined;
  /** The last rewriting of the files. Entries wait while it runs. */
  let rewriting: Promise<void> = Promise.resolve();
  let isRewriting = false;

  let failedAt = Number.NEGATIVE_INFINITY;
  const onFailure = (error: Error) => {
    const isNews = clock.now() - failedAt > QUIET_MS;
    failedAt = clock.now();
    if (isNews) {
      console?.stream.write(
        `The log files in ${oneLine(dir)} cannot be written: ${oneLine(error.message)}. It is tried again by and by.\n`,
      );
    }
  };

  const open = (): Sinks => {
    sinks ??= openSinks({ dir, files, level, console, onFailure, now: clock.now, maxBytes: maxMegabytes * 1_000_000 });
    const entries = waiting;
    waiting = [];
    for (const entry of entries) entry(sinks);
    return sinks;
  };

  const submit = (entry: Waiting, urgent: boolean) => {
    if (closed || (!files && console === undefined)) return;
    waiting.push(entry);
    if (isRewriting) return;
    if (urgent || sinks !== undefined) open();
    else opening ??= setTimeout(open, OPEN_AFTER_MS);
  };

  const listeners = new Set<Parameters<LogReader['watch']>[0]>();
  const reader = createLogReader(dir, (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  });
  const write = (entry: Entry) => {
    options.onEntry?.(entry);
    for (const listener of listeners)
      listener({ level: entry.level, component: originOf(entry.component, entry.fields) });
    const line = { human: humanText(entry, console?.stream.isTTY === true), json: safeJson(flat(entry)) };
    submit((to) => to.write(entry.level, line), entry.level === 'error' || entry.level === 'warn');
  };

  const loggerOf = (component: string, bound: LogFields): Logger => {
    const at =
      (one: Level) =>
      (message: string, fields: LogFields = {}) => {
        if (LEVELS.indexOf(one) > least) return;
        write({
          time: new Date(clock.now()).toISOString(),
          level: one,
          component,
          message: String(toPlain(message, redactor)),
          fields: toPlainRecord({ ...bound, ...fields }, redactor, one === 'trace' ? MAX_TRACE_TEXT : undefined),
        });
      };
    return {
      error: at('error'),
      warn: at('warn'),
      info: at('info'),
      debug: at('debug'),
      trace: at('trace'),
      traces: LEVELS.indexOf('trace') <= least,
      child: (fields) => loggerOf(component, { ...bound, ...fields }),
    };
  };

  return {
    logger: (component) => loggerOf(component, {}),
    audit(entry) {
      const json = safeJson({ time: new Date(clock.now()).toISOString(), ...toPlainRecord(entry, redactor) });
      submit((to) => to.audit(json), false);
    },
    redactor,
    reader,
    forget(userId) {
      const task = rewriting.then(async () => {
        if (closed) return;
        isRewriting = true;
        const opened = sinks ?? (waiting.length > 0 ? open() : undefined);
        sinks = undefined;
        try {
          await opened?.close();
          await forgetInLogs(dir, userId);
        } finally {
          isRewriting = false;
          if (waiting.length > 0) open();
        }
      });
      rewriting = task.catch(() => undefined);
      return task;
    },
    async close() {
      if (closed) return;
      await rewriting;
      clearTimeout(opening);
      const opened = sinks ?? (waiting.length > 0 ? open() : undefined);
      closed = true;
      await opened?.close();
    },
  };
}

type Winston = typeof import('winston');

/** Where formatted lines go: the terminal, and the log files. */
interface Sinks {
  write(level: Level, line: { readonly human: string; readonly json: string }): void;
  audit(json: string): void;
  /** Resolves when every line is in its file. */
  close(): Promise<void>;
}

interface SinkOptions extends LogFilesOptions {
  readonly files: boolean;
  readonly console: { readonly stream: NodeJS.WritableStream; readonly level: Level } | undefined;
}

/** Loads winston and opens the files, which takes some 30 ms. */
function openSinks(options: SinkOptions): Sinks {
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
  const files = options.files ? openLogFiles(options) : undefined;
  return {
    write(level, { human, json }) {
      terminal?.log({ level, message: '', human });
      files?.write(level, json);
    },
    audit: (json) => files?.audit(json),
    close: async () => files?.close(),
  };
}

const COLOURS = { error: 'red', warn: 'yellow', info: 'green', debug: 'gray', trace: 'gray' } as const satisfies Record<
  Level,
  string
>;
/** The number of stack frames that a terminal shows; the files contain all. */
const FRAMES = 8;

/** An entry for people. Every line but the first is indented, and control characters are escaped, so that logged text cannot imitate an entry. */
function humanText(entry: Entry, colours: boolean): string {
  const level = entry.level.padEnd(5);
  const paint = (text: string, colour: 'red' | 'yellow' | 'green' | 'gray') =>
    colours ? styleText(colour, text, { validateStream: false }) : text;
  const details = Object.entries(entry.fields);
  const errors = details.filter(([, value]) => isError(value));
  const short = details
    .filter(([, value]) => !isError(value))
    .map(([key, value]) => `${oneLine(key)}=${oneText(value)}`);
  const head = [
    paint(entry.time, 'gray'),
    paint(level, COLOURS[entry.level]),
    `${oneLine(entry.component)}:`,
    oneLine(entry.message),
    ...(short.length > 0 ? [paint(short.join(' '), 'gray')] : []),
  ].join(' ');
  return [head, ...errors.flatMap(([, value]) => errorLines(value))].join('\n');
}

function isError(value: Plain): value is PlainRecord {
  return typeof value === 'object' && value !== null && 'stack' in value;
}

function oneText(value: Plain): string {
  if (typeof value === 'string') return /^[\w.:/@-]+$/.test(value) ? value : oneLine(JSON.stringify(value));
  return oneLine(JSON.stringify(value));
}

function errorLines(value: Plain): readonly string[] {
  if (!isError(value)) return [`    ${oneText(value)}`];
  const { stack, code, cause, ...rest } = value;
  const lines = String(stack).split('\n');
  const shown = lines.slice(0, FRAMES + 1).map((line) => `    ${oneLine(line.trimEnd())}`);
  const facts = Object.entries(rest).filter(([key]) => key !== 'name' && key !== 'message' && key !== 'params');
  return [
    ...shown,
    ...(lines.length > FRAMES + 1 ? [`        … ${lines.length - FRAMES - 1} more lines`] : []),
    ...(code === undefined ? [] : [`    code: ${oneText(code)}`]),
    ...facts.map(([key, fact]) => `    ${oneLine(key)}: ${oneText(fact)}`),
    ...(cause === undefined ? [] : ['    caused by', ...errorLines(cause)]),
  ];
}

/** The number of actions of a guild that can be read in Discord; the audit file has all within its retention time. */
const KEPT = 300;
/** Limit for refusals and for actions that only read: there can be any number of them, and they must not displace changes. */
const KEPT_OF_A_KIND = 100;
const LONGEST = 300;
const FORGOTTEN = '(deleted with the data of the member)';

/** The latest actions, with a limit on refusals and on actions that only read. */
function kept<T extends { readonly outcome: string; readonly reads?: boolean | undefined }>(acts: readonly T[]): T[] {
  const isRefusal = ({ outcome }: T) => outcome === 'denied';
  const isReading = ({ reads }: T) => reads === true;
  return latestOf(latestOf(acts, isRefusal), isReading).slice(-KEPT);
}

/** The actions without the oldest ones of a kind above `KEPT_OF_A_KIND`. */
function latestOf<T>(acts: readonly T[], isOfKind: (act: T) => boolean): readonly T[] {
  let surplus = acts.filter(isOfKind).length - KEPT_OF_A_KIND;
  return acts.filter((act) => {
    if (!isOfKind(act)) return true;
    surplus -= 1;
    return surplus < 0;
  });
}

export const auditSchema = z.object({
  acts: z
    .array(
      z.object({
        at: z.number(),
        userId: z.string(),
        channelId: z.string(),
        plugin: z.string().optional(),
        act: z.string(),
        outcome: z.enum(['done', 'denied', 'refused', 'failed']),
        reason: z.string().optional(),
        reads: z.boolean().optional(),
      }),
    )
    .default([]),
});

export interface AuditLogService extends AuditLog {
  readonly personalData: PersonalData;
}

/** Writes actions to the audit file, and stores the latest of each guild to be read in Discord. */
export function createAuditLog(
  documents: Collection<z.output<typeof auditSchema>, 'guild'>,
  logs: Pick<Logs, 'audit' | 'redactor'>,
  clock: Pick<Clock, 'now'>,
  log: Logger,
): AuditLogService {
  return {
    record({ actor, plugin, act, outcome, reason, reads = false }) {
      const written = {
        at: clock.now(),
        userId: actor.userId,
        channelId: actor.channelId,
        ...(plugin === undefined ? {} : { plugin }),
        act: short(logs.redactor.text(act)),
        outcome,
        ...(reason === undefined ? {} : { reason: short(logs.redactor.text(reason)) }),
        ...(reads ? { reads } : {}),
      };
      logs.audit({ ...written, guildId: actor.guildId });
      if (actor.guildId === null) return;
      documents
        .of(actor.guildId)
        .update((draft) => {
          draft.acts = kept([...draft.acts, written]);
        })
        .catch((error: unknown) => log.error('an act could not be written to the audit', { ...written, error }));
    },
    async recent(guildId, limit) {
      const { acts } = await documents.of(guildId).get();
      return acts.slice(-limit).reverse();
    },
    personalData: {
      async export(userId) {
        const found: Record<string, unknown> = {};
        for await (const [guildId, { acts }] of documents.entries()) {
          const own = acts.filter((one) => one.userId === userId);
          if (own.length > 0) found[guildId] = own;
        }
        return found;
      },
      async forget(userId) {
        for await (const [guildId, { acts }] of documents.entries()) {
          if (!acts.some((one) => one.userId === userId || names(one, userId))) continue;
          await documents.of(guildId).update((draft) => {
            draft.acts = draft.acts.map((one) => withoutWordsOf(one, userId));
          });
        }
      },
      stays: ['that you did something for a server as its admin, or were refused it, and when; without your words'],
    },
  };
}

type Act = z.output<typeof auditSchema>['acts'][number];

const names = ({ act, reason = '' }: Act, userId: string): boolean => act.includes(userId) || reason.includes(userId);

/** Removes the text of a user's own entry; from an entry of another user about them, removes the reason and everything after their id. */
function withoutWordsOf(one: Act, userId: string): Act {
  if (one.userId === userId) return { ...one, act: FORGOTTEN, reason: undefined };
  if (!names(one, userId)) return one;
  const [before = '', after] = one.act.split(userId, 2);
  if (after === undefined || after === '' || after === '>') return { ...one, reason: undefined };
  return { ...one, act: `${before}${userId}${after.startsWith('>') ? '>' : ''} …`, reason: undefined };
}

const short = (text: string): string => (text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`);
