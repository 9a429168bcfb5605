import {
  asNotice,
  type Clock,
  currentLocale,
  type Document,
  isRefusal,
  type Language,
  type Logger,
  type OwnerAlert,
  type OwnerNotices,
  sendOnce,
  speaking,
  splitMessage,
  t,
  type Wording,
  z,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { LanguageService } from '../languages/languages.js';

const LONGEST_MESSAGE = 1_900;

/** The owners' notices, and what only the host may do with them. */
export type HostNotices = Pick<AlertQueue, 'alert' | 'sendWhere' | 'tell' | 'open' | 'idle' | 'close'>;

interface Parts {
  readonly client: Client;
  readonly owners: () => Promise<readonly string[]>;
  /** Where alerts are kept. */
  readonly document: () => Document<z.output<typeof alertsSchema>>;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  readonly languages: () => Pick<LanguageService, 'available' | 'find' | 'speak'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Builds the way to the owners, by direct message, for what they would not see in time in a log file. */
export function createOwnerNotices({ client, owners, document, redact, languages, clock, log }: Parts): HostNotices {
  const sendTo = async (userId: string, content: string) => {
    const channel = await client.users.createDM(userId);
    for (const part of splitMessage(content, LONGEST_MESSAGE)) {
      const message = { content: asNotice(part), allowedMentions: { parse: [] } };
      // The queue repeats by itself, after longer pauses.
      await sendOnce(channel, message, `notice ${userId} ${clock.now()} ${part}`, { clock, pausesMs: [] });
    }
  };
  const send = async (write: () => string, to?: string): Promise<Delivery> => {
    let isDone = false;
    const missed: Missed[] = [];
    for (const userId of (await owners()).filter((id) => to === undefined || id === to)) {
      const content = await languages().speak({ guildId: null, userId }, write);
      try {
        await sendTo(userId, redact(content));
        isDone = true;
      } catch (error) {
        log.warn('a notice could not be delivered to an owner of the bot', { userId, error });
        // An owner who takes no direct messages does not take them later either.
        if (isRefusal(error)) isDone = true;
        else missed.push({ userId, content });
      }
    }
    return { isDone, missed };
  };
  const queue = createAlertQueue({
    reachable: async () => client.token !== null && (await owners()).length > 0,
    send,
    document,
    languages: () => languages().available.flatMap((locale) => languages().find(locale) ?? []),
    clock,
    log,
  });
  const connected = ['clientReady', 'shardReady', 'shardResume'] as const;
  for (const event of connected) client.on(event, queue.retry);

  return {
    alert: queue.alert,
    sendWhere: queue.sendWhere,
    tell: queue.tell,
    open: queue.open,
    idle: queue.idle,
    async close() {
      for (const event of connected) client.off(event, queue.retry);
      await queue.close();
    },
  };
}

/** What goes wrong in a burst is sent as one message. */
const COLLECT_MS = 5_000;
/** Each kind of alert is sent at most this often. */
const EVERY_MS = 60 * 60_000;
/** An alert that is sent later than this says when it was raised. */
const LATE_MS = 60_000;
const FIRST_RETRY_MS = 60_000;
const LONGEST_RETRY_MS = 10 * 60_000;
const LONGEST_PART = 500;
/** A message that some owners have and others not is sent to those again for so long. */
const REDELIVER_MS = 24 * 60 * 60_000;
/** Such messages in all; the oldest are given up. */
const MOST_UNDELIVERED = 50;
/** Which alerts are sent while nothing else is asked. */
const always = async (_kind: string): Promise<boolean> => true;
/** Alerts of one kind that differ: beyond these they are only counted. */
const WORDED = 3;

const wordsSchema = z.object({ text: z.string(), remedy: z.string() });
type Words = z.output<typeof wordsSchema>;

const raisedSchema = wordsSchema.extend({
  /** By locale, in other languages than English. */
  translated: z.record(z.string(), wordsSchema).default({}),
  /** When it was first raised, in milliseconds since the Unix epoch. */
  at: z.number(),
  count: z.int().positive(),
});
type Raised = z.output<typeof raisedSchema>;

const kindSchema = z.object({
  /** When a message of this kind was last sent; 0: never. */
  sentAt: z.number(),
  waiting: z.array(raisedSchema),
  /** Raised beside those that are worded. */
  more: z.int().min(0),
});
type Kind = z.output<typeof kindSchema>;

const undeliveredSchema = z.object({
  userId: z.string(),
  content: z.string(),
  /** When it was first sent. */
  at: z.number(),
  attempts: z.int().positive(),
  /** When it is sent again. */
  dueAt: z.number(),
});
type Undelivered = z.output<typeof undeliveredSchema>;

/** What is kept of alerts over a restart, so that a crash loop does not send a message a start. */
export const alertsSchema = z.object({
  kinds: z.record(z.string(), kindSchema).default({}),
  undelivered: z.array(undeliveredSchema).default([]),
});

/** A message that an owner does not have, in the language of the owner. */
type Missed = Pick<Undelivered, 'userId' | 'content'>;

/** What became of a message. */
interface Delivery {
  /** Some owner has it, or trying again would help with none. */
  readonly isDone: boolean;
  /** Owners who do not have it, with whom trying again may help. */
  readonly missed: readonly Missed[];
}

/** Alerts on their way to the bot's owners. */
interface AlertQueue extends OwnerNotices {
  /** Sends a sentence with the next message, however often: for what answers a change that an owner has just made. */
  tell(sentence: string): void;
  /** Reads what an earlier run has left to send. Alerts raised before are kept. */
  open(): Promise<void>;
  /** What could not be sent may go now. */
  retry(): void;
  /** Resolves when nothing is being sent; `true` when it had to wait. */
  idle(): Promise<boolean>;
  /** Begins to send nothing more; resolves when what was begun is sent and what is unsent is saved. */
  close(): Promise<void>;
}

interface AlertQueueParts {
  /** Whether anybody can be sent anything at the moment. */
  readonly reachable: () => Promise<boolean>;
  /** Sends a message to the owners, or to one of them, written in the language of each. Never rejects. */
  readonly send: (write: () => string, to?: string) => Promise<Delivery>;
  /** In which owners may read, beside English. */
  readonly languages: () => readonly Language[];
  /** Where alerts are kept. */
  readonly document: () => Document<z.output<typeof alertsSchema>>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Builds the queue of alerts: what comes in a burst is one message, each kind is sent at most once an hour, and neither a restart nor a Discord
 * that is away loses any or repeats any.
 */
export function createAlertQueue({ reachable, send, document, languages, clock, log }: AlertQueueParts): AlertQueue {
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
  let saving: Promise<void> | undefined;
  let unsaved = false;
  let saveNotBefore = 0;
  let opened = false;
  let closed = false;
  let isWanted = always;

  const saveAll = async () => {
    while (unsaved) {
      unsaved = false;
      try {
        await document().set({ kinds: Object.fromEntries(kinds), undelivered });
      } catch (error) {
        // Perhaps this is what the alert is about, and the next attempt would raise it again. The hour still holds in this run.
        unsaved = false;
        saveNotBefore = clock.now() + FIRST_RETRY_MS;
        log.warn('alerts to the owners could not be saved', { error });
      }
    }
    saving = undefined;
  };
  const save = (): Promise<void> => {
    // Before `open` the document on the disk is the truer one.
    if (!opened || clock.now() < saveNotBefore) return Promise.resolve();
    unsaved = true;
    saving ??= saveAll();
    return saving;
  };

  const readKept = async (): Promise<z.output<typeof alertsSchema>> => {
    try {
      return await document().get();
    } catch (error) {
      log.warn('alerts of the last run could not be read', { error });
      return { kinds: {}, undelivered: [] };
    }
  };

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
    // A clock that was set back must not silence a kind for longer than the hour.
    const rested = sentAt === 0 ? 0 : Math.min(sentAt, now) + EVERY_MS;
    dueAt.set(name, Math.max(now + COLLECT_MS, rested));
  };

  const takeDue = () => {
    const now = clock.now();
    const due = [...kinds].filter(([name, { waiting }]) => waiting.length > 0 && (dueAt.get(name) ?? 0) <= now);
    const told = sentences;
    sentences = [];
    for (const [name] of due) kinds.set(name, { sentAt: now, waiting: [], more: 0 });
    for (const [name, { sentAt, waiting }] of kinds) {
      if (waiting.length > 0 || sentAt > now - EVERY_MS) continue;
      kinds.delete(name);
      dueAt.delete(name);
    }
    return { due, told };
  };
  const putBack = ({ due, told }: ReturnType<typeof takeDue>) => {
    sentences = [...told, ...sentences];
    for (const [name, before] of due) {
      const since = kinds.get(name);
      const kind = { ...before, more: before.more + (since?.more ?? 0) };
      for (const raised of since?.waiting ?? []) add(kind, raised);
      kinds.set(name, kind);
      dueAt.set(name, 0);
    }
  };
  /** The hour counts from when the message was there, which may have taken a while. */
  const startHour = ({ due }: ReturnType<typeof takeDue>) => {
    for (const [name] of due) {
      const kind = kinds.get(name);
      if (kind === undefined) continue;
      kind.sentAt = clock.now();
      setDue(name, kind);
    }
    void save();
  };
  const postpone = () => {
    notBefore = clock.now() + retryMs;
    retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
  };
  const keepFor = (one: Omit<Undelivered, 'dueAt'>) => {
    if (clock.now() - one.at >= REDELIVER_MS) {
      log.warn('an owner of the bot could not be sent a notice for a day: it is given up', { userId: one.userId });
      return;
    }
    const pauseMs = Math.min(FIRST_RETRY_MS * 2 ** (one.attempts - 1), LONGEST_RETRY_MS);
    undelivered = [...undelivered, { ...one, dueAt: clock.now() + pauseMs }].slice(-MOST_UNDELIVERED);
  };
  /** Owners who lacked a message that others have. */
  const redeliverDue = async () => {
    const due = undelivered.filter(({ dueAt: at }) => at <= clock.now());
    if (due.length === 0) return;
    undelivered = undelivered.filter((one) => !due.includes(one));
    // Saved before, as below.
    await save();
    for (const { userId, content, at, attempts } of due) {
      const { missed } = await send(() => content, userId);
      if (missed.length > 0) keepFor({ userId, content, at, attempts: attempts + 1 });
    }
    await save();
  };
  const onlyWanted = async ({ due, told }: ReturnType<typeof takeDue>): Promise<ReturnType<typeof takeDue>> => {
    const wanted: [string, Kind][] = [];
    for (const [name, kind] of due) {
      try {
        if (!(await isWanted(name))) continue;
      } catch (error) {
        log.warn('it could not be read which alerts the owners want: this one is sent', { alert: name, error });
      }
      wanted.push([name, kind]);
    }
    return { due: wanted, told };
  };
  const deliverDue = async () => {
    if (!(await reachable())) return postpone();
    await redeliverDue();
    const all = takeDue();
    const taken = await onlyWanted(all);
    if (taken.told.length === 0 && taken.due.length === 0) {
      if (all.due.length > 0) await save();
      return;
    }
    // Saved as sent before it is sent: when the process dies between the two, the log has it, and the next start does not repeat it.
    if (taken.due.length > 0) await save();
    const { isDone, missed } = await send(() =>
      [...taken.told, ...taken.due.map(([, kind]) => wordsOf(kind, clock.now()))].map((part) => `⚠️ ${part}`).join('\n'),
    );
    if (isDone) {
      retryMs = FIRST_RETRY_MS;
      for (const one of missed) keepFor({ ...one, at: clock.now(), attempts: 1 });
      startHour(taken);
      return;
    }
    putBack(taken);
    postpone();
    await save();
  };
  const deliver = (): Promise<void> => {
    delivering ??= deliverDue().finally(() => {
      delivering = undefined;
      schedule();
    });
    return delivering;
  };

  return {
    alert(alert) {
      const { kind: name } = alert;
      const words = speaking(undefined, () => worded(alert));
      log.warn(`${words.text} ${words.remedy}`, { alert: name });
      if (closed) return;
      const kind = kinds.get(name) ?? { sentAt: 0, waiting: [], more: 0 };
      if (kind.waiting.length === 0) setDue(name, kind);
      kinds.set(name, kind);
      add(kind, {
        ...bounded(words),
        translated: Object.fromEntries(
          languages().map((language) => [language.locale, bounded(speaking(language, () => worded(alert)))]),
        ),
        at: clock.now(),
        count: 1,
      });
      void save();
      schedule();
    },
    sendWhere(ask) {
      isWanted = ask;
      return () => {
        if (isWanted === ask) isWanted = always;
      };
    },
    tell(sentence) {
      if (sentences.length === 0) sentencesDue = clock.now() + COLLECT_MS;
      sentences.push(sentence);
      schedule();
    },
    async open() {
      const isEarly = kinds.size > 0;
      const kept = await readKept();
      undelivered = [...kept.undelivered];
      for (const [name, kind] of Object.entries(kept.kinds)) {
        const raised = kinds.get(name);
        for (const one of raised?.waiting ?? []) add(kind, one);
        kinds.set(name, { ...kind, more: kind.more + (raised?.more ?? 0) });
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
      // It is saved as sent already.
      await delivering;
      await saving;
    },
  };
}

function add(kind: Kind, raised: Raised): void {
  const same = kind.waiting.find(({ text }) => text === raised.text);
  if (same !== undefined) same.count += raised.count;
  else if (kind.waiting.length < WORDED) kind.waiting.push(raised);
  else kind.more += raised.count;
}

const wordingOf = (wording: Wording) => (typeof wording === 'string' ? wording : wording());

const worded = ({ text, remedy }: OwnerAlert): Words => ({ text: wordingOf(text), remedy: wordingOf(remedy) });

const bounded = ({ text, remedy }: Words): Words => ({
  text: text.slice(0, LONGEST_PART),
  remedy: remedy.slice(0, LONGEST_PART),
});

/** In the current language. */
function wordsOf({ waiting, more }: Kind, now: number): string {
  const lines = waiting.map((raised) => {
    const { at, count } = raised;
    const { text, remedy } = raised.translated[currentLocale()] ?? raised;
    // Discord shows this as the reader's own time of the day.
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
