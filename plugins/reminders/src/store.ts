import { type Actor, plainText, t, UserError } from '@cinnabar/sdk';
import type { Reminder, ReminderContext } from './context.js';
import { LONGEST_TEXT, nextTime, type Reading, readReminder, readWhen, tooLong, type When } from './when.js';

export type Reminders = ReturnType<typeof createReminders>;

/** The request for a new reminder. */
export interface Order {
  /** Time and text: `in 2h tea`. */
  readonly said: string;
  /** The text, if `said` contains only the time. */
  readonly text?: string | undefined;
  readonly to: 'here' | 'dm' | { readonly channelId: string };
  readonly roleId?: string | undefined;
  readonly isPublic: boolean;
}

/** The operations on reminders that commands, tools and buttons use. */
export function createReminders(context: ReminderContext) {
  const { collections, settings, services, log } = context;
  const { reminders: stored } = collections;
  const { clock, random } = services;
  /** An index in memory, so that listing one member's reminders does not read all of them. */
  const known = new Map<string, Known>();
  const loaded = load();
  // Commands report the failure; this handler prevents an unhandled rejection.
  loaded.catch((error: unknown) => log.error('the reminders could not be read', { error }));
  context.defer(stored.watch((id) => void follow(id)));

  async function load(): Promise<void> {
    for await (const [id, one] of stored.entries()) known.set(id, knownOf(one));
  }

  async function follow(id: string): Promise<void> {
    const one = await stored
      .of(id)
      .find()
      .catch(() => undefined);
    if (one === undefined) known.delete(id);
    else known.set(id, knownOf(one));
  }

  /** A member's pending reminders, the next one first. In a server, only those of that server. */
  async function list({
    userId,
    guildId,
  }: Pick<Actor, 'userId' | 'guildId'>): Promise<readonly (Reminder & { readonly id: string })[]> {
    await loaded;
    const found: (Reminder & { readonly id: string })[] = [];
    for (const [id, owner] of known) {
      if (!owner.isPending || owner.userId !== userId || (guildId !== null && owner.guildId !== guildId)) continue;
      const one = await stored.of(id).find();
      if (one === undefined) known.delete(id);
      else if (one.deliveredAt === undefined) found.push({ ...one, id });
    }
    return found.sort((a, b) => a.dueAt - b.dueAt);
  }

  async function timeZoneOf({ userId, guildId }: Pick<Actor, 'userId' | 'guildId'>): Promise<string> {
    const own = (await settings.user(userId).get()).timeZone;
    return own === '' ? (await settings.guild(guildId).get()).timeZone : own;
  }

  async function readingFor(actor: Actor): Promise<Reading> {
    const { shortestRepeatMinutes } = await settings.guild(actor.guildId).get();
    return {
      now: clock.now(),
      timeZone: await timeZoneOf(actor),
      shortestRepeatMs: shortestRepeatMinutes * 60_000,
    };
  }

  async function checkLimits({ userId, guildId }: Actor): Promise<void> {
    await loaded;
    const { mostPerMember, mostInServer } = await settings.guild(guildId).get();
    // In a server only its own reminders count, in a direct message those of all servers.
    const mine = (await list({ userId, guildId })).length;
    if (mine >= mostPerMember) {
      throw new UserError(t('You have {mine} reminders already; cancel one first: `reminder list`.', { mine }));
    }
    const here =
      guildId === null ? 0 : [...known.values()].filter((one) => one.isPending && one.guildId === guildId).length;
    if (here >= mostInServer) throw new UserError(t('There are too many reminders in this server already.'));
  }

  async function find(
    actor: Pick<Actor, 'userId' | 'guildId'>,
    number: number,
  ): Promise<Reminder & { readonly id: string }> {
    const one = (await list(actor)).find((reminder) => reminder.number === number);
    if (one === undefined)
      throw new UserError(t('You have no reminder {number} here. `reminder list` shows them.', { number }));
    return one;
  }

  return {
    list,
    timeZoneOf,
    /** @throws UserError if the time cannot be parsed, the text is empty, or the member has too many reminders */
    async set(actor: Actor, { said, text, to, roleId, isPublic }: Order): Promise<Reminder & { readonly id: string }> {
      const reading = await readingFor(actor);
      const read =
        text === undefined ? await readReminder(said, reading) : { ...(await readWhen(said, reading)), text, said };
      const about = checkText(read.text);
      await checkLimits(actor);
      const channelId = to === 'dm' || actor.guildId === null ? null : to === 'here' ? actor.channelId : to.channelId;
      return save(actor, {
        about,
        said: read.said,
        when: read,
        timeZone: reading.timeZone,
        channelId,
        roleId,
        isPublic,
      });
    },
    /** Sets the same reminder for another time. Its text about the time does not apply any more. */
    async snooze(reminder: Reminder, dueAt: number): Promise<Reminder & { readonly id: string }> {
      const { userId, guildId, setIn, text, timeZone, channelId, roleId, isPublic } = reminder;
      const actor: Actor = { userId, guildId, channelId: setIn };
      await checkLimits(actor);
      const when: When = { dueAt, repeat: undefined, isByClock: false };
      return save(actor, { about: text, said: '', when, timeZone, channelId, roleId, isPublic });
    },
    async edit(
      actor: Actor,
      number: number,
      change: { readonly when?: string | undefined; readonly text?: string | undefined },
    ): Promise<Reminder> {
      const { id } = await find(actor, number);
      const reading = await readingFor(actor);
      const when = change.when === undefined ? undefined : await readWhen(change.when, reading);
      const text = change.text === undefined ? undefined : checkText(change.text);
      return stored.of(id).update((draft) => {
        if (text !== undefined) draft.text = text;
        if (when === undefined || change.when === undefined) return;
        draft.dueAt = when.dueAt;
        draft.said = change.when;
        draft.setAt = reading.now;
        draft.timeZone = reading.timeZone;
        draft.repeat = asStored(when.repeat);
        draft.times = 0;
      });
    },
    async cancel(actor: Actor, number: number): Promise<Reminder> {
      const one = await find(actor, number);
      await stored.of(one.id).delete();
      return one;
    },
    /**
     * Sets the member's time zone. The first one also applies to reminders that were set before: their times are parsed again.
     * @returns the reminders whose time has changed, the next one first
     */
    async chooseZone(userId: string, timeZone: string): Promise<readonly Reminder[]> {
      const { timeZone: before } = await settings.user(userId).get();
      await settings.user(userId).set({ timeZone });
      if (before !== '') return [];
      const moved: Reminder[] = [];
      for (const one of await list({ userId, guildId: null })) {
        const now = await reread(one, timeZone);
        if (now !== undefined && now.dueAt !== one.dueAt) moved.push(now);
      }
      return moved.sort((a, b) => a.dueAt - b.dueAt);
    },
    /** Whether to ask the member for their time zone: once, and only if the reminder depends on it. */
    async asksForZone({ userId }: Actor, when: Pick<Reminder, 'dueAt' | 'repeat' | 'said'>): Promise<boolean> {
      if ((await settings.user(userId).get()).timeZone !== '') return false;
      const isDuration = /^(?:in\s+)?\d+\s*\p{L}/iu.test(when.said) && when.repeat === undefined;
      if (isDuration || (await collections.asked.of(userId).get()).zoneAskedAt !== 0) return false;
      await collections.asked.of(userId).set({ zoneAskedAt: clock.now() });
      return true;
    },
  };

  /** The reminder with its time parsed again, as at that time, in another time zone. `undefined` if the time does not depend on a zone, or has passed there. */
  async function reread(one: Reminder & { readonly id: string }, timeZone: string): Promise<Reminder | undefined> {
    const { shortestRepeatMinutes } = await settings.guild(one.guildId).get();
    const reading = { now: one.setAt, timeZone, shortestRepeatMs: shortestRepeatMinutes * 60_000 };
    const when = await readWhen(one.said, reading).catch(() => undefined);
    if (when?.isByClock !== true) return undefined;
    const now = clock.now();
    const dueAt = when.dueAt > now || when.repeat === undefined ? when.dueAt : nextTime(when.repeat, now, timeZone);
    if (dueAt <= now) return undefined;
    return stored.of(one.id).update((draft) => {
      draft.dueAt = dueAt;
      draft.timeZone = timeZone;
    });
  }

  async function save(
    actor: Actor,
    order: {
      readonly about: string;
      readonly said: string;
      readonly when: When;
      readonly timeZone: string;
      readonly channelId: string | null;
      readonly roleId: string | undefined;
      readonly isPublic: boolean;
    },
  ): Promise<Reminder & { readonly id: string }> {
    const { about, said, when, timeZone, channelId, roleId, isPublic } = order;
    const id = random.id();
    const numbers = (await list({ userId: actor.userId, guildId: null })).map(({ number }) => number);
    const made = await stored.of(id).set({
      userId: actor.userId,
      number: firstFree(numbers),
      guildId: actor.guildId,
      channelId,
      setIn: actor.channelId,
      isPublic,
      ...(roleId === undefined ? {} : { roleId }),
      text: about,
      said,
      timeZone,
      dueAt: when.dueAt,
      ...(when.repeat === undefined ? {} : { repeat: asStored(when.repeat) }),
      times: 0,
      setAt: clock.now(),
      failures: 0,
    });
    known.set(id, knownOf(made));
    return { ...made, id };
  }
}

/** The part of a reminder that is kept in memory. */
interface Known {
  readonly userId: string;
  readonly guildId: string | null;
  /** `false` after the last delivery: a reminder that is only kept for its buttons counts towards no limit. */
  readonly isPending: boolean;
}

const knownOf = ({ userId, guildId, deliveredAt }: Reminder): Known => ({
  userId,
  guildId,
  isPending: deliveredAt === undefined,
});

const asStored = (repeat: When['repeat']): Reminder['repeat'] =>
  repeat?.kind === 'weekdays' ? { ...repeat, weekdays: [...repeat.weekdays] } : repeat;

function firstFree(taken: readonly number[]): number {
  let number = 1;
  while (taken.includes(number)) number += 1;
  return number;
}

function checkText(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') throw new UserError(t('Say what I am to remind you of, too: `remind in 2h tea`.'));
  if (trimmed.length > LONGEST_TEXT) throw tooLong();
  return trimmed;
}

/** A timestamp that Discord shows in the reader's own time zone. */
export const discordTime = (at: number, style: 'f' | 'R' = 'f') => `<t:${Math.floor(at / 1_000)}:${style}>`;

/** One line of a list. */
export function lineOf({ number, dueAt, repeat, text, channelId, roleId }: Reminder): string {
  const shown = plainText(text.length > 100 ? `${text.slice(0, 99)}…` : text);
  const where = channelId === null ? t('by direct message') : `<#${channelId}>`;
  const whom = roleId === undefined || roleId === '' ? '' : ` → <@&${roleId}>`;
  const again = repeat === undefined ? '' : ' ↻';
  return `**${number}** ${discordTime(dueAt)}${again} · ${where}${whom} · ${shown}`;
}
