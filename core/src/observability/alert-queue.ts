import {
  type Clock,
  currentLocale,
  type Document,
  type Language,
  type Logger,
  type OwnerAlert,
  type OwnerNotices,
  speaking,
  t,
  type Wording,
  z,
} from '@cinnabar/sdk';

/** The owners' notices, and the functions that only the host may call. */
export interface HostNotices extends OwnerNotices {
  /** Sends a sentence with the next message, without the limit of one an hour: for answers to a change that an owner has just made. */
  tell(sentence: string): void;
  /** Reads unsent alerts of an earlier run. Alerts raised before are kept. */
  open(): Promise<void>;
  /** Resolves when no message is being sent; with `true` when it had to wait. */
  idle(): Promise<boolean>;
  /** Starts no further messages; resolves when those in progress are sent and the unsent alerts are saved. */
  close(): Promise<void>;
}

/** The notices of the host that sends them. */
export interface SendingNotices extends HostNotices {
  /**
   * Accepts notices of the host of another group. A notice that was accepted before, or that this or another host has sent within ten minutes, counts once.
   * @throws Error when the notices could not be saved: they have to be handed over again
   */
  take(from: number, handed: Handed): Promise<void>;
}

/** Alerts within this time are sent as one message. */
const COLLECT_MS = 5_000;
/** Minimum interval between two alerts of one kind. */
const EVERY_MS = 60 * 60_000;
/** The text of an alert that is sent later than this includes the time when it was raised. */
const LATE_MS = 60_000;
const FIRST_RETRY_MS = 60_000;
const LONGEST_RETRY_MS = 10 * 60_000;
const LONGEST_PART = 500;
/** Alerts of several hosts of a cluster within this time count as one. */
const SAME_MS = 10 * 60_000;
/** Maximum number of such alerts that are kept for each kind; the oldest are dropped. */
const MOST_SEEN = 20;
/** The number of ids of notices from other hosts that are kept: a host that got no answer hands its notices over again. */
const MOST_TAKEN = 500;
/** The group of the sending host, which serves direct messages. */
const OWN_GROUP = 0;
/** How long sending a message that only some owners received is retried for the others. */
const REDELIVER_MS = 24 * 60 * 60_000;
/** Maximum number of such messages; the oldest are dropped. */
const MOST_UNDELIVERED = 50;
/** All alerts are sent by default. */
const always = async (_kind: string): Promise<boolean> => true;
/** Maximum number of different alerts of one kind; further ones are only counted. */
const WORDED = 3;

const wordsSchema = z.object({ text: z.string(), remedy: z.string() });
type Words = z.output<typeof wordsSchema>;

const raisedSchema = wordsSchema.extend({
  /** By locale, for languages other than English. */
  translated: z.record(z.string(), wordsSchema).default({}),
  /** When it was first raised, in milliseconds since the Unix epoch. */
  at: z.number(),
  count: z.int().positive(),
});
type Raised = z.output<typeof raisedSchema>;

const seenSchema = z.object({
  reason: z.string(),
  /** When it was first raised. */
  since: z.number(),
  /** The number of alerts, by group of the host. */
  by: z.record(z.string(), z.number()),
});
type Seen = z.output<typeof seenSchema>;

const kindSchema = z.object({
  /** When a message of this kind was last sent; 0: never. */
  sentAt: z.number(),
  waiting: z.array(raisedSchema),
  /** Number of alerts beyond those with a text. */
  more: z.int().min(0),
  /** Alerts of the last minutes. */
  seen: z.array(seenSchema).default([]),
});
type Kind = z.output<typeof kindSchema>;

const undeliveredSchema = z.object({
  userId: z.string(),
  content: z.string(),
  /** The same with the time of each alert. */
  late: z.string().optional(),
  /** When it was first sent. */
  at: z.number(),
  attempts: z.int().positive(),
  /** When it is sent again. */
  dueAt: z.number(),
  /** Whether no owner has received it: then it is not given up, and newer alerts wait for it. */
  isOnly: z.boolean().default(false),
});
type Undelivered = z.output<typeof undeliveredSchema>;

/** The notices that the host of a group forwards to the sending host. */
export const handedSchema = z.object({
  alerts: z.array(raisedSchema.extend({ id: z.string(), kind: z.string(), reason: z.string() })).default([]),
  sentences: z.array(z.object({ id: z.string(), sentence: z.string(), at: z.number() })).default([]),
});
export type Handed = z.output<typeof handedSchema>;

/** The state that is kept across restarts, so that a crash loop does not send a message at each start. */
export const alertsSchema = z.object({
  kinds: z.record(z.string(), kindSchema).default({}),
  undelivered: z.array(undeliveredSchema).default([]),
  /** On the sending host: ids of notices that it has accepted from others. */
  taken: z.array(z.string()).default([]),
  /** On other hosts: notices that were not handed over yet. */
  handing: handedSchema.default({ alerts: [], sentences: [] }),
});
export type Alerts = z.output<typeof alertsSchema>;

/** Alerts that are about to be sent. */
interface Taken {
  /** By kind, as they were before. */
  readonly due: readonly (readonly [kind: string, before: Kind])[];
  readonly toSend: readonly string[];
  /** When they were taken: the `sentAt` of their kinds. */
  readonly at: number;
}

/** A message that an owner has not received, in the owner's language. */
export type Missed = Pick<Undelivered, 'userId' | 'content' | 'late'>;

/** The result of sending a message. */
interface Delivery {
  /** Whether an owner has received the message, or has refused it permanently. */
  readonly isDone: boolean;
  /** Owners for whom sending may succeed later, with the message. */
  readonly missed: readonly Missed[];
}

/**
 * Sends a message to the owners, written in the language of each. Never rejects.
 * @param write the text; with `true`, with the time of each alert
 * @param at when it is sent for the first time, in milliseconds since the Unix epoch
 * @param before the earlier attempt for one owner, to whom it is sent again
 */
export type Send = (write: (isLate: boolean) => string, at: number, before?: Missed) => Promise<Delivery>;

/** Alerts for the bot's owners. */
interface AlertQueue extends SendingNotices {
  /** Called when unsent messages may be sent now. */
  retry(): void;
}

interface AlertQueueDependencies {
  /** Whether messages can be sent at the moment. */
  readonly reachable: () => Promise<boolean>;
  readonly send: Send;
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
  /** Languages of owners other than English. */
  readonly languages: () => readonly Language[];
  /** Where alerts are stored. */
  readonly document: () => Document<Alerts>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Builds the queue of alerts: a burst becomes one message, each kind is sent at most once an hour, and neither a restart nor an outage of Discord loses or
 * repeats any.
 */
export function createAlertQueue({
  reachable,
  send,
  document,
  redact,
  languages,
  clock,
  log,
}: AlertQueueDependencies): AlertQueue {
  const kinds = new Map<string, Kind>();
  let undelivered: Undelivered[] = [];
  let sentences: string[] = [];
  let sentencesDue = 0;
  /** When an alert of the kind may be sent. */
  const dueAt = new Map<string, number>();
  let retryMs = FIRST_RETRY_MS;
  let notBefore = 0;
  let cancel: () => void = () => undefined;
  let delivering: Promise<void> | undefined;
  let taken: string[] = [];
  const seenSentences: Seen[] = [];
  let opened = false;
  let closed = false;
  let isWanted = always;

  const saver = createSaver(
    () =>
      document().set({ kinds: Object.fromEntries(kinds), undelivered, taken, handing: { alerts: [], sentences: [] } }),
    clock,
    log,
  );
  // Before `open`, the stored alerts have not been read, and would be overwritten.
  const save = async (): Promise<boolean> => opened && saver.save();

  const schedule = () => {
    cancel();
    const times = [...kinds].flatMap(([name, { waiting }]) => (waiting.length === 0 ? [] : (dueAt.get(name) ?? 0)));
    if (sentences.length > 0) times.push(sentencesDue);
    times.push(...undelivered.map(({ dueAt: at }) => at));
    if (closed || times.length === 0) return;
    const at = Math.max(Math.min(...times), notBefore);
    cancel = clock.after(Math.max(0, at - clock.now()), () => void deliver());
  };
  const setDue = (name: string, { sentAt }: Kind) => {
    const now = clock.now();
    // A clock that was set back must not suppress a kind for longer than an hour.
    const rested = sentAt === 0 ? 0 : Math.min(sentAt, now) + EVERY_MS;
    dueAt.set(name, Math.max(now + COLLECT_MS, rested));
  };

  const takeDue = (): Taken => {
    const now = clock.now();
    const due = [...kinds].filter(([name, { waiting }]) => waiting.length > 0 && (dueAt.get(name) ?? 0) <= now);
    const toSend = sentences;
    sentences = [];
    for (const [name] of due) kinds.set(name, { sentAt: now, waiting: [], more: 0, seen: kinds.get(name)?.seen ?? [] });
    for (const [name, { sentAt, waiting }] of kinds) {
      if (waiting.length > 0 || sentAt > now - EVERY_MS) continue;
      kinds.delete(name);
      dueAt.delete(name);
    }
    return { due, toSend, at: now };
  };
  const putBack = ({ due, toSend }: Taken) => {
    sentences = [...toSend, ...sentences];
    for (const [name, before] of due) {
      const since = kinds.get(name);
      const kind = { ...before, more: before.more + (since?.more ?? 0), seen: since?.seen ?? before.seen };
      for (const raised of since?.waiting ?? []) add(kind, raised);
      kinds.set(name, kind);
      dueAt.set(name, 0);
    }
  };
  /** Starts the hour without further alerts of the kinds that were taken at a time, when their message has been sent, which may have taken a while. */
  const startHour = (at: number) => {
    for (const [name, kind] of kinds) {
      if (kind.sentAt !== at) continue;
      kind.sentAt = clock.now();
      setDue(name, kind);
    }
  };
  const postpone = () => {
    notBefore = clock.now() + retryMs;
    retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
  };
  const keepFor = (one: Omit<Undelivered, 'dueAt'>) => {
    if (!one.isOnly && clock.now() - one.at >= REDELIVER_MS) {
      log.warn('an owner of the bot could not be sent a notice for a day: it is given up', { userId: one.userId });
      return;
    }
    const pauseMs = Math.min(FIRST_RETRY_MS * 2 ** (one.attempts - 1), LONGEST_RETRY_MS);
    undelivered = [...undelivered, { ...one, dueAt: clock.now() + pauseMs }].slice(-MOST_UNDELIVERED);
  };
  /** Sends due messages again to owners who have not received them. */
  const redeliverDue = async () => {
    const due = undelivered.filter(({ dueAt: at }) => at <= clock.now());
    if (due.length === 0) return;
    undelivered = undelivered.filter((one) => !due.includes(one));
    // Saved before sending, as in `deliverDue`.
    await save();
    const received = new Set<number>();
    for (const { dueAt: _, ...one } of due) {
      const { at, isOnly, content, late = content } = one;
      const { isDone, missed } = await send(() => late, at, one);
      if (isDone && isOnly && !received.has(at)) startHour(at);
      if (isDone) received.add(at);
      if (missed.length > 0) keepFor({ ...one, attempts: one.attempts + 1 });
    }
    undelivered = undelivered.map((one) => (received.has(one.at) ? { ...one, isOnly: false } : one));
    await save();
  };
  const onlyWanted = async ({ due, ...rest }: Taken): Promise<Taken> => {
    const wanted: [string, Kind][] = [];
    for (const [name, kind] of due) {
      try {
        if (!(await isWanted(name))) continue;
      } catch (error) {
        log.warn('it could not be read which alerts the owners want: this one is sent', { alert: name, error });
      }
      wanted.push([name, kind]);
    }
    return { ...rest, due: wanted };
  };
  const deliverDue = async () => {
    if (!(await reachable())) return postpone();
    await redeliverDue();
    // Repeated alone, so that it is recognised if it has arrived although its response was lost.
    if (undelivered.some(({ isOnly }) => isOnly)) return postpone();
    const all = takeDue();
    const taken = await onlyWanted(all);
    if (taken.toSend.length === 0 && taken.due.length === 0) {
      if (all.due.length > 0) await save();
      return;
    }
    // Saved as sent before the message is sent: when the process dies in between, the log has the alerts, and the next start does not repeat them.
    if (taken.due.length > 0) await save();
    const { at, toSend, due } = taken;
    const words = (isLate: boolean) => {
      const now = isLate ? Number.POSITIVE_INFINITY : clock.now();
      return [...toSend, ...due.map(([, kind]) => wordsOf(kind, now))].map((part) => `⚠️ ${part}`).join('\n');
    };
    const { isDone, missed } = await send(words, at);
    for (const one of missed) keepFor({ ...one, at, attempts: 1, isOnly: !isDone });
    if (isDone) {
      retryMs = FIRST_RETRY_MS;
      startHour(at);
    } else {
      if (missed.length === 0) putBack(taken);
      postpone();
    }
    await save();
  };
  const deliver = (): Promise<void> => {
    delivering ??= deliverDue().finally(() => {
      delivering = undefined;
      schedule();
    });
    return delivering;
  };

  const raise = (name: string, reason: string, raised: Raised, group: number) => {
    const kind = kinds.get(name) ?? { sentAt: 0, waiting: [], more: 0, seen: [] };
    const count = newOf(kind.seen, { reason, group, at: raised.at, count: raised.count });
    if (kind.waiting.length === 0) setDue(name, kind);
    kinds.set(name, kind);
    if (count > 0) add(kind, { ...raised, count });
  };
  const say = (sentence: string, at: number, group: number) => {
    if (newOf(seenSentences, { reason: sentence, group, at, count: 1 }) === 0) return;
    if (sentences.length === 0) sentencesDue = clock.now() + COLLECT_MS;
    sentences.push(sentence);
  };

  return {
    alert(alert) {
      const { reason, ...raised } = raisedOf(alert, languages(), clock.now(), redact);
      log.warn(`${raised.text} ${raised.remedy}`, { alert: alert.kind });
      if (closed) return;
      raise(alert.kind, reason, raised, OWN_GROUP);
      void save();
      schedule();
    },
    async take(from, handed) {
      if (closed || !opened) throw new Error('notices to the owners are not taken at the moment');
      const isNew = ({ id }: { readonly id: string }) => !taken.includes(id);
      const [alerts, toSend] = [handed.alerts.filter(isNew), handed.sentences.filter(isNew)];
      for (const { id: _, kind, reason, ...raised } of alerts) raise(kind, reason, raised, from);
      for (const { sentence, at } of toSend) say(sentence, at, from);
      taken = [...taken, ...[...alerts, ...toSend].map(({ id }) => id)].slice(-MOST_TAKEN);
      schedule();
      if (!(await save())) throw new Error('notices to the owners could not be saved');
    },
    sendWhere(ask) {
      isWanted = ask;
      return () => {
        if (isWanted === ask) isWanted = always;
      };
    },
    tell(sentence) {
      say(sentence, clock.now(), OWN_GROUP);
      schedule();
    },
    async open() {
      const isEarly = kinds.size > 0;
      const kept = await readKept(document, log);
      undelivered = [...kept.undelivered];
      taken = [...kept.taken, ...taken];
      for (const [name, kind] of Object.entries(kept.kinds)) {
        const raised = kinds.get(name);
        for (const one of raised?.waiting ?? []) add(kind, one);
        kinds.set(name, {
          ...kind,
          more: kind.more + (raised?.more ?? 0),
          seen: [...kind.seen, ...(raised?.seen ?? [])],
        });
        setDue(name, kind);
      }
      opened = true;
      if (isEarly) await save();
      schedule();
    },
    retry() {
      const soon = clock.now() + COLLECT_MS;
      notBefore = Math.min(notBefore, soon);
      undelivered = undelivered.map((one) => ({ ...one, dueAt: Math.min(one.dueAt, soon) }));
      retryMs = FIRST_RETRY_MS;
      schedule();
    },
    async idle() {
      if (delivering === undefined) return false;
      await delivering;
      return true;
    },
    async close() {
      closed = true;
      cancel();
      // Awaited, because the message is already saved as sent.
      await delivering;
      await saver.idle();
    },
  };
}

/** The stored state; an empty one when it cannot be read. Never rejects. */
export async function readKept(document: () => Document<Alerts>, log: Logger): Promise<Alerts> {
  try {
    return await document().get();
  } catch (error) {
    log.warn('alerts of the last run could not be read', { error });
    return alertsSchema.parse({});
  }
}

/** Saves the state, one write at a time: changes during a write cause one more. */
export function createSaver(write: () => Promise<unknown>, clock: Clock, log: Logger) {
  let saving: Promise<boolean> | undefined;
  let isDue = false;
  let notBefore = 0;
  const run = async (): Promise<boolean> => {
    let isSaved = true;
    while (isDue) {
      isDue = false;
      try {
        await write();
        isSaved = true;
      } catch (error) {
        // Not retried at once: the alert may be about the disk, and another failure would raise it again. The hourly limit still applies in this run.
        isDue = false;
        isSaved = false;
        notBefore = clock.now() + FIRST_RETRY_MS;
        log.warn('alerts to the owners could not be saved', { error });
      }
    }
    saving = undefined;
    return isSaved;
  };
  return {
    /** Never rejects. @returns whether everything up to the call is saved */
    async save(): Promise<boolean> {
      if (clock.now() < notBefore) return false;
      isDue = true;
      saving ??= run();
      return saving;
    },
    idle: async (): Promise<unknown> => saving,
  };
}

/** The stored form of an alert, in the languages of its readers. @param redact removes secrets from a text */
export function raisedOf(
  alert: OwnerAlert,
  languages: readonly Language[],
  at: number,
  redact: (text: string) => string,
): Raised & { readonly reason: string } {
  const wordsIn = (language: Language | undefined): Words => {
    const { text, remedy } = speaking(language, () => worded(alert));
    return { text: redact(text).slice(0, LONGEST_PART), remedy: redact(remedy).slice(0, LONGEST_PART) };
  };
  const words = wordsIn(undefined);
  return {
    ...words,
    translated: Object.fromEntries(languages.map((language) => [language.locale, wordsIn(language)])),
    at,
    count: 1,
    reason: alert.reason ?? words.text,
  };
}

/**
 * Records alerts of one host. Each host of a cluster may report the same problem, so its count is the largest of the hosts' counts.
 * @returns how many of them no host has reported before
 */
function newOf(seen: Seen[], one: { reason: string; group: number; at: number; count: number }): number {
  const isOld = ({ since }: Seen) => Math.abs(one.at - since) >= SAME_MS;
  const others = seen.filter((known) => !isOld(known) && known.reason !== one.reason);
  const same = seen.find((known) => !isOld(known) && known.reason === one.reason);
  const by = same?.by ?? {};
  const most = Math.max(0, ...Object.values(by));
  const count = (by[one.group] ?? 0) + one.count;
  const noted = { reason: one.reason, since: same?.since ?? one.at, by: { ...by, [one.group]: count } };
  seen.splice(0, seen.length, ...others.slice(1 - MOST_SEEN), noted);
  return Math.max(0, count - most);
}

function add(kind: Kind, raised: Raised): void {
  const same = kind.waiting.find(({ text }) => text === raised.text);
  if (same !== undefined) same.count += raised.count;
  else if (kind.waiting.length < WORDED) kind.waiting.push(raised);
  else kind.more += raised.count;
}

const wordingOf = (wording: Wording) => (typeof wording === 'string' ? wording : wording());

const worded = ({ text, remedy }: OwnerAlert): Words => ({ text: wordingOf(text), remedy: wordingOf(remedy) });

/** The text about a kind of alerts in the current language. */
function wordsOf({ waiting, more }: Kind, now: number): string {
  const lines = waiting.map((raised) => {
    const { at, count } = raised;
    const { text, remedy } = raised.translated[currentLocale()] ?? raised;
    // Discord shows this timestamp in the reader's time zone.
    const when = now - at > LATE_MS ? ` (<t:${Math.floor(at / 1000)}:f>)` : '';
    const again =
      count > 1 ? ` ${t('(and {count, plural, one {# more time} other {# more times}})', { count: count - 1 })}` : '';
    return `${text}${when} ${remedy}${again}`;
  });
  if (more > 0) {
    const values = { count: more };
    lines.push(
      t('… and {count, plural, one {# more time} other {# more times}} of this kind: the log has them.', values),
    );
  }
  return lines.join('\n');
}
