import { momentOf, t, UserError, type WallTime, wallTime } from '@cinnabar/sdk';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The time of day for a date without one. */
const MORNING = { hour: 9, minute: 0 } as const;
const LONGEST_MS = 5 * 365 * DAY_MS;
/** Longest text of a reminder, in characters. */
export const LONGEST_TEXT = 1_000;
/** Maximum length of text and time together, in characters. */
const LONGEST_SAID = LONGEST_TEXT + 200;

/** `minutes` counts from midnight, in the reminder's time zone. */
type Repeat =
  | { readonly kind: 'interval'; readonly everyMs: number }
  | { readonly kind: 'days'; readonly days: number; readonly minutes: number }
  | { readonly kind: 'weekdays'; readonly weekdays: readonly number[]; readonly minutes: number }
  | { readonly kind: 'months'; readonly months: number; readonly day: number; readonly minutes: number };

export interface When {
  readonly dueAt: number;
  readonly repeat: Repeat | undefined;
  /** Whether it depends on the time zone, which a duration does not. */
  readonly isByClock: boolean;
}

/** The conditions under which a text is parsed. */
export interface Reading {
  readonly now: number;
  readonly timeZone: string;
  /** Shorter intervals are refused. */
  readonly shortestRepeatMs: number;
}

/** A time that was found in a text, and its position. */
interface Found extends When {
  readonly index: number;
  readonly length: number;
}

/**
 * Parses `in 2h drink tea`, `tomorrow at 9 call Bob`, `to call Bob on friday`, `every Monday at 18:00 raid`, in English and German.
 * @throws UserError if the text contains no time, the time has passed or is too far away, or the text is too long
 */
export async function readReminder(
  said: string,
  reading: Reading,
): Promise<When & { readonly text: string; readonly said: string }> {
  if (said.length > LONGEST_SAID) throw tooLong();
  const whole = said.trim().replace(/^(?:me|mich|uns|us)\b[\s,:]*/iu, '');
  const found = readStart(whole, reading) ?? readEnd(whole, reading) ?? (await readDate(whole, reading));
  if (found === undefined) throw unreadable();
  const before = whole.slice(0, found.index).trim();
  const after = whole.slice(found.index + found.length).trim();
  if (found.isByClock && (IMPOSSIBLE_DATE.test(before) || hasImpossibleTime(after))) throw unreadable();
  // A time in the middle of a sentence stays in the text, because without it the rest would not be a sentence.
  const text = (before === '' || /^[.!]?$/u.test(after) ? before + after : whole).replace(LEADING, '').trim();
  return { ...checked(found, reading), text, said: whole.slice(found.index, found.index + found.length) };
}

/** All of the text before a time of day: a date that exists would be part of what was found. */
const IMPOSSIBLE_DATE = /^(?:am\s+|on\s+)?\d{1,2}\.\s?\d{1,2}\.(?:\s?\d{4})?(?:\s+(?:at|um))?$/iu;

/** Whether a text begins with a time of day that no clock shows, as after `tomorrow` in `tomorrow 25:61 tea`. */
function hasImpossibleTime(text: string): boolean {
  const [, hour, minute] = /^(?:at\s+|um\s+)?(\d{1,2}):(\d{2})(?!\d)/iu.exec(text) ?? [];
  return hour !== undefined && minutesOf(Number(hour), Number(minute), '') === undefined;
}

const LEADING = /^(?:[,:;–-]\s*)?(?:to|that|about|dass|daran,?\s*(?:dass)?|an|zu)\s+|^[,:;–-]\s*/iu;

/** Parses a text that contains only a time. @throws UserError */
export async function readWhen(said: string, reading: Reading): Promise<When> {
  const { text, ...when } = await readReminder(said, reading);
  if (text !== '') throw unreadable();
  return when;
}

function checked(found: Found, { now, shortestRepeatMs }: Reading): When {
  const { dueAt, repeat, isByClock } = found;
  if (dueAt <= now) throw new UserError(t('That time has passed already.'));
  if (dueAt - now > LONGEST_MS) throw new UserError(t('That is too far away: at most five years.'));
  if (repeat?.kind === 'interval' && repeat.everyMs < shortestRepeatMs) {
    const minutes = Math.ceil(shortestRepeatMs / MINUTE_MS);
    throw new UserError(t('That is too often: at least {minutes} minutes have to be between two.', { minutes }));
  }
  return { dueAt, repeat, isByClock };
}

function unreadable(): UserError {
  return new UserError(
    t(
      'I do not understand when that is. Write for instance `in 2h tea`, `tomorrow at 9 call Bob`, `24.12. 18:00 presents` or `every Monday at 18:00 raid`.',
    ),
  );
}

export function tooLong(): UserError {
  return new UserError(t('That is too long: a reminder has at most {most} characters.', { most: LONGEST_TEXT }));
}

/** The next time after `at`. */
export function nextTime(repeat: Repeat, at: number, timeZone: string): number {
  if (repeat.kind === 'interval') return at + repeat.everyMs;
  const { year, month, day } = wallTime(at, timeZone);
  const time = { hour: Math.floor(repeat.minutes / 60), minute: repeat.minutes % 60 };
  const on = (wall: Pick<WallTime, 'year' | 'month' | 'day'>) => momentOf({ ...wall, ...time }, timeZone);
  if (repeat.kind === 'months') {
    for (let months = 0; ; months += repeat.months) {
      const first = new Date(Date.UTC(year, month - 1 + months, 1));
      const lastDay = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
      const next = on({
        year: first.getUTCFullYear(),
        month: first.getUTCMonth() + 1,
        day: Math.min(repeat.day, lastDay),
      });
      if (next > at) return next;
    }
  }
  const step = repeat.kind === 'days' ? repeat.days : 1;
  for (let days = 0; ; days += step) {
    const next = on({ year, month, day: day + days });
    const weekday = new Date(Date.UTC(year, month - 1, day + days)).getUTCDay();
    if (next > at && (repeat.kind === 'days' || repeat.weekdays.includes(weekday))) return next;
  }
}

// Durations and repetitions.

/** Gap between words. The limit prevents matching in cubic time with many spaces. */
const GAP = '\\s{0,4}';
const MONTH = '(?:mo|months?|monate?n?)';
const UNITS: readonly (readonly [pattern: string, ms: number])[] = [
  ['(?:w|weeks?|wochen?)', 7 * DAY_MS],
  ['(?:d|days?|tage?n?)', DAY_MS],
  ['(?:h|hrs?|hours?|std\\.?|stunden?)', 60 * MINUTE_MS],
  ['(?:m|mins?|minutes?|minuten?)', MINUTE_MS],
  ['(?:s|secs?|seconds?|sek\\.?|sekunden?)', 1_000],
];
const ANY_UNIT = UNITS.map(([pattern]) => pattern).join('|');
const COUNT = `\\d{1,6}(?:[.,]\\d{1,6})?${GAP}`;
const COUNT_IN_WORDS = '(?:half\\s{1,4}an?|an?|one|eine[rn]?\\s{1,4}halben?|eine[rnm]?)\\s{1,4}';
/** `1h30` */
const HOURS_AND_MINUTES = '(\\d{1,3})h([0-5]\\d)(?![\\p{L}\\d])';
const AMOUNT = `(?:${HOURS_AND_MINUTES}|(?:${COUNT})(?:${ANY_UNIT})(?=[^\\p{L}]|$)|${COUNT_IN_WORDS}(?:${ANY_UNIT})(?![\\p{L}]))`;
const DURATION = new RegExp(`^(?:in\\s+)?${AMOUNT}(?:${GAP}(?:,|and|und)?${GAP}${AMOUNT})*`, 'iu');
const PARTS = new RegExp(`${HOURS_AND_MINUTES}|(${COUNT}|${COUNT_IN_WORDS})(${ANY_UNIT})(?![\\p{L}])`, 'giu');

function durationMs(words: string): number {
  let total = 0;
  for (const [, hours, minutes, amount = '', unit = ''] of words.matchAll(PARTS)) {
    total += hours === undefined ? countOf(amount) * unitMs(unit) : (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  }
  return Math.round(total);
}

function countOf(amount: string): number {
  if (/half|halb/iu.test(amount)) return 0.5;
  const number = Number(amount.trim().replace(',', '.'));
  return Number.isNaN(number) ? 1 : number;
}

function unitMs(unit: string): number {
  return UNITS.find(([pattern]) => new RegExp(`^${pattern}$`, 'iu').test(unit))?.[1] ?? 0;
}

const WEEKDAYS: readonly RegExp[] = [
  /^(?:sun(?:days?)?|so|sonntags?)$/iu,
  /^(?:mon(?:days?)?|mo|montags?)$/iu,
  /^(?:tue(?:s(?:days?)?)?|di|dienstags?)$/iu,
  /^(?:wed(?:nesdays?)?|mi|mittwochs?)$/iu,
  /^(?:thu(?:rs(?:days?)?)?|do|donnerstags?)$/iu,
  /^(?:fri(?:days?)?|fr|freitags?)$/iu,
  /^(?:sat(?:urdays?)?|sa|samstags?|sonnabends?)$/iu,
];
const WEEKDAY = '\\p{L}{2,10}';
const TIME = `(?:${GAP},?${GAP}(?:at|um)?${GAP}(\\d{1,2})(?:[:.](\\d{2}))?${GAP}(am|pm|uhr|o’clock)?(?![\\p{L}\\d]))`;
const EVERY = /^(?:every|each|jede[nrs]?|alle)\s+/iu;
const EVERY_COUNT = new RegExp(`^(?:(\\d{1,4})\\s*)?(${MONTH}|${ANY_UNIT}|years?|jahre?)(?![\\p{L}])`, 'iu');
const DAY_OF_MONTH = /^\s+(?:on\s+(?:the\s+)?|am\s+)(\d{1,2})(?:st|nd|rd|th|\.)?(?![\p{L}\d:])/iu;
const EVERY_WEEKDAYS = new RegExp(`^(${WEEKDAY}(?:(?:\\s*,\\s*|\\s+(?:and|und)\\s+)${WEEKDAY})*)`, 'iu');
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^(?:daily|täglich)(?![\p{L}])/iu, 'every day'],
  [/^(?:weekly|wöchentlich)(?![\p{L}])/iu, 'every week'],
  [/^(?:monthly|monatlich)(?![\p{L}])/iu, 'every month'],
  [/^(?:werktags|(?:on\s+)?weekdays)(?![\p{L}])/iu, 'every weekday'],
];

/** Parses a duration, a repetition or a dotted date at the start. */
function readStart(text: string, reading: Reading): Found | undefined {
  return readRepetition(text, reading) ?? readDuration(text, reading) ?? readDottedDate(text, reading);
}

/** Parses the same at the end of the text. */
function readEnd(text: string, reading: Reading): Found | undefined {
  for (const { index } of text.matchAll(/(?<=\s)\S/gu)) {
    const found = readStart(text.slice(index), reading);
    if (found !== undefined && index + found.length === text.length) return { ...found, index };
  }
  return undefined;
}

/** After a duration, a time of day makes it a date: `in 3 days at 8`. */
const AT = new RegExp(`^${GAP},?${GAP}(?:at|um)\\s`, 'iu');

function readDuration(text: string, { now }: Reading): Found | undefined {
  const words = DURATION.exec(text)?.[0];
  const lasts = words === undefined ? 0 : durationMs(words);
  if (words === undefined || lasts <= 0) return undefined;
  if (new RegExp(`^${TIME}`, 'iu').test(text.slice(words.length)) && AT.test(text.slice(words.length)))
    return undefined;
  return { dueAt: now + lasts, repeat: undefined, isByClock: false, index: 0, length: words.length };
}

/** Parses a repetition; `daily` is `every day`. */
function readRepetition(text: string, reading: Reading): Found | undefined {
  for (const [pattern, meaning] of WORDS) {
    const typed = pattern.exec(text)?.[0];
    if (typed === undefined) continue;
    const found = readEvery(`${meaning}${text.slice(typed.length)}`, reading);
    return found === undefined ? undefined : { ...found, length: found.length - meaning.length + typed.length };
  }
  return readEvery(text, reading);
}

function readEvery(text: string, { now, timeZone }: Reading): Found | undefined {
  const every = EVERY.exec(text)?.[0];
  if (every === undefined) return undefined;
  const rest = text.slice(every.length);
  const [unit, count = '1', name = ''] = EVERY_COUNT.exec(rest) ?? [];
  const [list = ''] = unit === undefined ? (EVERY_WEEKDAYS.exec(rest) ?? []) : [];
  const weekdays = unit === undefined ? weekdaysOf(list) : undefined;
  const named = unit ?? weekdays?.words;
  if (named === undefined) return undefined;
  const isMonthly = new RegExp(`^${MONTH}$`, 'iu').test(name);
  const [onDay = '', dayOfMonth] = isMonthly ? (DAY_OF_MONTH.exec(rest.slice(named.length)) ?? []) : [];
  const words = named + onDay;
  const [time = '', hour, minute = '0', half = ''] = new RegExp(`^${TIME}`, 'iu').exec(rest.slice(words.length)) ?? [];
  const today = wallTime(now, timeZone);
  const local = dayOfMonth === undefined ? today : { ...today, day: Math.min(31, Math.max(1, Number(dayOfMonth))) };
  const minutes = hour === undefined ? MORNING.hour * 60 : minutesOf(Number(hour), Number(minute), half);
  if (minutes === undefined) return undefined;
  const repeat =
    weekdays === undefined
      ? repeatOf(Number(count), name, minutes, local)
      : { kind: 'weekdays' as const, weekdays: weekdays.days, minutes };
  if (repeat === undefined) return undefined;
  const length = every.length + words.length + (repeat.kind === 'interval' ? 0 : time.length);
  // Of several days, the one with the nearest time is the first.
  const first =
    repeat.kind === 'days' ? { ...repeat, days: 1 } : repeat.kind === 'months' ? { ...repeat, months: 1 } : repeat;
  return { dueAt: nextTime(first, now, timeZone), repeat, isByClock: repeat.kind !== 'interval', index: 0, length };
}

function repeatOf(count: number, unit: string, minutes: number, { day, year, month }: WallTime): Repeat | undefined {
  if (count < 1) return undefined;
  if (/^(?:years?|jahre?)$/iu.test(unit)) return { kind: 'months', months: 12 * count, day, minutes };
  const ms = unitMs(unit);
  if (new RegExp(`^${MONTH}$`, 'iu').test(unit)) return { kind: 'months', months: count, day, minutes };
  if (ms === 7 * DAY_MS && count === 1) {
    return { kind: 'weekdays', weekdays: [new Date(Date.UTC(year, month - 1, day)).getUTCDay()], minutes };
  }
  if (ms >= DAY_MS) return { kind: 'days', days: (count * ms) / DAY_MS, minutes };
  return { kind: 'interval', everyMs: count * ms };
}

/** The weekdays at the start of a list, and their words: "Monday and Thursday walk" begins with two days. */
function weekdaysOf(list: string): { readonly days: readonly number[]; readonly words: string } | undefined {
  if (/^(?:weekday|werktag)/iu.test(list)) return { days: [1, 2, 3, 4, 5], words: /^\p{L}+/u.exec(list)?.[0] ?? list };
  const days: number[] = [];
  let end = 0;
  for (const { 0: word, index } of list.matchAll(/\p{L}+/gu)) {
    if (/^(?:and|und)$/iu.test(word)) continue;
    const day = WEEKDAYS.findIndex((pattern) => pattern.test(word));
    if (day === -1) break;
    days.push(day);
    end = index + word.length;
  }
  return days.length === 0 ? undefined : { days: [...new Set(days)], words: list.slice(0, end) };
}

function minutesOf(hour: number, minute: number, half: string): number | undefined {
  const isHalf = /^(?:am|pm)$/iu.test(half);
  if (minute > 59 || hour > (isHalf ? 12 : 23)) return undefined;
  const inDay = isHalf ? (hour % 12) + (/^pm$/iu.test(half) ? 12 : 0) : hour;
  return inDay * 60 + minute;
}

// Dates.

const DOTTED = new RegExp(`^(?:am\\s+|on\\s+)?(\\d{1,2})\\.\\s?(\\d{1,2})\\.(?:\\s?(\\d{4}))?${TIME}?`, 'iu');

/** 29 February comes again after eight years at most. */
const YEARS_TO_LEAP_DAY = [0, 1, 2, 3, 4, 5, 6, 7, 8];

function hasDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** `24.12.`, `24.12.2027 um 18 Uhr`; not a date that does not exist. */
function readDottedDate(text: string, { now, timeZone }: Reading): Found | undefined {
  const [words, day, month, year, hour, minute = '0', half = ''] = DOTTED.exec(text) ?? [];
  if (words === undefined || day === undefined || month === undefined) return undefined;
  const minutes = hour === undefined ? MORNING.hour * 60 : minutesOf(Number(hour), Number(minute), half);
  if (minutes === undefined) return undefined;
  const thisYear = wallTime(now, timeZone).year;
  const inYear = (one: number) =>
    momentOf(
      { year: one, month: Number(month), day: Number(day), hour: Math.floor(minutes / 60), minute: minutes % 60 },
      timeZone,
    );
  const years = year === undefined ? YEARS_TO_LEAP_DAY.map((ahead) => thisYear + ahead) : [Number(year)];
  const dueAt = years
    .filter((one) => hasDay(one, Number(month), Number(day)))
    .map(inYear)
    .find((moment) => year !== undefined || moment > now);
  if (dueAt === undefined) return undefined;
  return { dueAt, repeat: undefined, isByClock: true, index: 0, length: words.trimEnd().length };
}

const PART_OF_DAY = /morning|noon|afternoon|evening|night|morgens|früh|mittag|abend|nacht/iu;

/** Parses a date with chrono at the start, otherwise at the end. */
async function readDate(text: string, { now, timeZone }: Reading): Promise<Found | undefined> {
  // Loaded with the first date, because it takes longer than the start of most plugins.
  const [english, german] = await Promise.all([import('chrono-node/en'), import('chrono-node/de')]);
  const local = wallTime(now, timeZone);
  const offset =
    (Date.UTC(local.year, local.month - 1, local.day, local.hour, local.minute) -
      Math.floor(now / MINUTE_MS) * MINUTE_MS) /
    MINUTE_MS;
  const reference = { instant: new Date(now), timezone: offset };
  const results = [english, german].flatMap(({ casual }) => casual.parse(text, reference, { forwardDate: true }));
  const atStart = results.filter(({ index, text: words }) => index === 0 && words.trim() !== '');
  const atEnd = results.filter(({ index, text: words }) => /^[\s.!]*$/u.test(text.slice(index + words.length)));
  const among = [atStart, atEnd, results].find(({ length }) => length > 0) ?? [];
  const [best] = among.sort((a, b) => b.text.length - a.text.length);
  if (best === undefined) return undefined;
  const { start, index, text: words } = best;
  const part = (name: 'year' | 'month' | 'day' | 'hour' | 'minute') => start.get(name) ?? 0;
  const isTimed = start.isCertain('hour') || PART_OF_DAY.test(words);
  const time = isTimed ? { hour: part('hour'), minute: part('minute') } : MORNING;
  const wall = { year: part('year'), month: part('month'), day: part('day'), ...time };
  const isZoned = start.isCertain('timezoneOffset') && !start.tags().has('result/relativeDate');
  const moment = isZoned ? start.date().getTime() : momentOf(wall, timeZone);
  const isPastWeekday = moment <= now && start.isCertain('weekday') && !start.isCertain('day');
  const dueAt = isPastWeekday ? momentOf({ ...wall, day: wall.day + 7 }, timeZone) : moment;
  return { dueAt, repeat: undefined, isByClock: true, index, length: words.length };
}
