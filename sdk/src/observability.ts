import type { z } from 'zod';
import type { Actor } from './access.js';
import type { Clock } from './clock.js';
import type { EnvSchema } from './definition.js';
import type { Configuration, Settings, SettingsSchemas } from './settings.js';
import { defineToken } from './token.js';

/** Ids and facts of an entry. Secrets are redacted by the host. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured log, bound to its component. Message first, facts in fields: `log.info('card posted', { callId })`. */
export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  /** Whole bodies of requests and the like. */
  trace(message: string, fields?: LogFields): void;
  /** Whether trace entries are written: check it before computing costly fields. */
  readonly traces: boolean;
  /** The same logger with more fields on each entry. */
  child(fields: LogFields): Logger;
}

/** Removes secrets as in logs: those that the host knows, and everything with the form of one. */
export interface Redaction {
  text(text: string): string;
}
export const Redaction = defineToken<Redaction>('cinnabar.redaction');

/** A value for each label. Values come from a small set: never ids of guilds, channels, members or messages. */
export type MetricLabels<L extends string> = Readonly<Record<L, string>>;

/** The common part of all metrics' declarations. */
export interface MetricDefinition<L extends string> {
  /**
   * Lower case letters, digits and `_`, with the unit in it and, for a counter, `_total` at its end. It is published after the plugin's id:
   * `deliveries_total` of `relay` is `cinnabar_relay_deliveries_total`.
   * https://prometheus.io/docs/practices/naming/
   */
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  readonly labels?: readonly L[];
}

export interface CounterDefinition<L extends string> extends MetricDefinition<L> {
  /** For values that are counted anyway: called each time when metrics are read, instead of `add`. It must never decrease while the process lives. */
  readonly read?: () => Iterable<MetricReading<L>>;
}

export interface HistogramDefinition<L extends string> extends MetricDefinition<L> {
  /** Upper bounds, rising: `[0.1, 1, 10]`. */
  readonly buckets: readonly number[];
}

/** The value of a metric for one set of labels. */
export type MetricReading<L extends string> = readonly [labels: MetricLabels<L>, value: number];

/** A value that can rise and fall. */
export interface GaugeDefinition<L extends string> extends MetricDefinition<L> {
  /** Called each time when metrics are read: it answers from memory. */
  readonly read: () => number | Iterable<MetricReading<L>>;
}

export interface Counter<L extends string> {
  /** @param by 1 when left out; never negative */
  add(labels: MetricLabels<L>, by?: number): void;
}

export interface Histogram<L extends string> {
  observe(labels: MetricLabels<L>, value: number): void;
}

/**
 * Metrics of one plugin, removed when it stops. While monitoring is off, each call costs next to nothing. Of one metric at most 200 sets of labels are kept
 * apart; further ones, and values that look like ids of Discord, are counted as `other`.
 * @example
 * const rolls = metrics.counter({ name: 'rolls_total', help: 'Dice that were rolled.', labels: ['sides'] });
 * rolls.add({ sides: '20' });
 * metrics.gauge({ name: 'queue_length', help: 'Rolls that wait.', read: () => queue.length });
 */
export interface Metrics {
  /** @throws CinnabarError CINNABAR_NAME_INVALID, CINNABAR_NAME_TAKEN; so do the others */
  counter<const L extends string = never>(definition: CounterDefinition<L>): Counter<L>;
  gauge<const L extends string = never>(definition: GaugeDefinition<L>): void;
  histogram<const L extends string = never>(definition: HistogramDefinition<L>): Histogram<L>;
}

/** An action of an admin and its outcome, or a refused command. */
export type AuditOutcome = 'done' | 'denied' | 'refused' | 'failed';

/** An action: a command, or the press of a button that changes something for all members. */
export interface AuditAct {
  readonly actor: Actor;
  /** The plugin that owns the command or component; the host fills it in for those. */
  readonly plugin?: string | undefined;
  /** The action as it was requested: `plugin disable confirm`. */
  readonly act: string;
  readonly outcome: AuditOutcome;
  /** Why it was not done. */
  readonly reason?: string | undefined;
  /** It only read something. */
  readonly reads?: boolean | undefined;
}

/** An entry of the audit. */
export interface AuditedAct extends Omit<AuditAct, 'actor'> {
  /** In ms since the epoch. */
  readonly at: number;
  readonly userId: string;
  readonly channelId: string;
}

/** The audit: every action of a guild's moderators and admins, and every refused command and press. */
export interface AuditLog {
  /** Secrets are removed. Never throws: an entry that cannot be written is logged. */
  record(act: AuditAct): void;
  /** The latest of a guild, the newest first. */
  recent(guildId: string, limit: number): Promise<readonly AuditedAct[]>;
}
export const AuditLog = defineToken<AuditLog>('cinnabar.audit-log');

/** A problem that an owner of the bot has to act on. */
export interface OwnerAlert {
  /**
   * The kind of problem, in lower case with hyphens: `disk-full`, `gateway-away`, `model-resting`, `plugin-suspended`, `restart-after-crash`, or one of the
   * plugin's own. Each kind is sent at most once an hour; others in between are summarised.
   */
  readonly kind: string;
  /** The problem, as a sentence that is still true when it is read later: `The model gpt-5 failed five times in a row.` */
  readonly text: Wording;
  /** How to fix it, as a sentence. */
  readonly remedy: Wording;
  /**
   * Identifies the problem when the text contains more, such as since when: several processes of one bot that report it within ten minutes notify the owners
   * once. By default the text.
   */
  readonly reason?: string;
}

/** A sentence, or with `t` for each language that an owner may read it in: it is called at once, in one language after the other. */
export type Wording = string | (() => string);

/** Notices to the bot's owners, by direct message and in the log. Provided by the host. */
export interface OwnerNotices {
  /**
   * Logs the alert at once and sends it to the owners as soon as Discord can be reached. Unsent alerts, and the hourly limit, survive a restart. An owner who
   * could not be reached when another was is tried again for a day. Never throws.
   * @example notices.alert({ kind: 'disk-full', text: () => t('The disk is full.'), remedy: () => t('Free some space.') });
   */
  alert(alert: OwnerAlert): void;
  /**
   * Sets a check whether the owners want alerts of a kind; unwanted ones are only logged. When the check fails, they are sent.
   * @returns a function that removes it
   */
  sendWhere(isWanted: (kind: string) => Promise<boolean>): () => void;
}
export const OwnerNotices = defineToken<OwnerNotices>('cinnabar.owner-notices');

/** A response for monitoring systems. */
export interface MonitoringPage {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** The host's monitoring endpoints, for servers that serve them. */
export interface Monitoring {
  readonly paths: readonly string[];
  /** `/healthz`, `/readyz` or `/metrics`; `undefined` for any other path. Metrics are counted from the first request on, unless the host serves them itself. */
  page(path: string): Promise<MonitoringPage | undefined>;
}
export const Monitoring = defineToken<Monitoring>('cinnabar.monitoring');

/** The result of one check. */
export interface CheckResult {
  readonly ok: boolean;
  /** The finding: `The key for OpenAI is accepted`. Must not contain secrets. */
  readonly text: string;
  /** How to fix it, when something is wrong. */
  readonly remedy?: string | undefined;
}

/**
 * The context of a plugin's checks. They run in the running bot (`!doctor`) and outside of it (`cinnabar doctor`), where the plugin is not set up: they only
 * read, and change nothing.
 */
export interface CheckContext<
  S extends SettingsSchemas = Record<never, never>,
  E extends EnvSchema = z.ZodObject<Record<never, never>>,
> {
  /** Only to be read. */
  readonly settings: Settings<S>;
  readonly env: z.output<E>;
  readonly configuration: Pick<Configuration, 'layers'>;
  readonly clock: Clock;
  /** Aborts when the check takes too long: requests have to use it. */
  readonly signal: AbortSignal;
}

/** A check context with erased types. */
export interface ErasedCheckContext extends Pick<CheckContext, 'configuration' | 'clock' | 'signal'> {
  readonly settings: object;
  readonly env: object;
}

/** A result with its subject: `Discord`, `data`, or a plugin's id. */
export interface DoctorFinding extends CheckResult {
  readonly about: string;
  /** Name of the process of a cluster that it is about; without one it is about the whole bot. */
  readonly process?: string;
}

/** Checks everything that the bot needs: its token, intents, permissions, data, and what plugins check. Provided by the host. */
export interface Doctor {
  /**
   * Runs all checks, in all processes of a cluster: findings about the whole bot come first, then those of each process. Never rejects; each check has a time
   * limit. Secrets are removed.
   */
  examine(): Promise<readonly DoctorFinding[]>;
}
export const Doctor = defineToken<Doctor>('cinnabar.doctor');

/** A decision about a message, for `!why`. */
export interface MessageDecision {
  /** A sentence for the message's author: the decision, and what they can do. */
  readonly text: string;
}

/** The decisions about recent messages, in memory: the latest thousand messages with any. Provided by the host. */
export interface MessageDecisions {
  note(messageId: string, decision: MessageDecision): void;
  /** In the order of the decisions; empty for a message without any. */
  of(messageId: string): readonly MessageDecision[];
}
export const MessageDecisions = defineToken<MessageDecisions>('cinnabar.message-decisions');

export type LogLevel = 'error' | 'warn' | 'info' | 'debug' | 'trace';

/** One entry of the log, as the files have it: without secrets. */
export interface LogRecord {
  /** In milliseconds since 1970. */
  readonly at: number;
  readonly level: LogLevel;
  /** A plugin's id, or a part of the host. */
  readonly component: string;
  readonly message: string;
  readonly fields: LogFields;
}

/** The criteria of a search in the log. */
export interface LogQuery {
  /** The least important level that is included. */
  readonly level?: LogLevel;
  readonly component?: string;
  /** Matches anywhere in the entry, in any case. */
  readonly text?: string;
  readonly guildId?: string;
  /** Only what was logged before, in milliseconds since 1970. */
  readonly before?: number;
  readonly limit: number;
}

/** Matching entries, newest first. */
export interface LogEntries {
  readonly entries: readonly LogRecord[];
  /** `more`: there are older matching entries. `unread`: there may be, further back than one query reads. */
  readonly end: 'all' | 'more' | 'unread';
}

/** The log of the process. It contains entries about every server: only the bot's owner may read it. */
export interface LogReader {
  find(query: LogQuery): Promise<LogEntries>;
  /** Called with each new entry, shortly before it can be found. @returns a function that stops this */
  watch(listener: (entry: Pick<LogRecord, 'level' | 'component'>) => void): () => void;
}
export const LogReader = defineToken<LogReader>('cinnabar.log-reader');
