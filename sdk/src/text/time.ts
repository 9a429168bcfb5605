const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
];
const MS_BY_UNIT = new Map(UNITS);
/** A unit by its letter or as a word: models write `2 days`. */
const UNIT = 'ms|w(?:eeks?)?|d(?:ays?)?|h(?:(?:ou)?rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?';
const WHOLE = new RegExp(`^(?:\\d+(?:\\.\\d+)?(?:${UNIT}))+$`);
const PART = new RegExp(`(\\d+(?:\\.\\d+)?)(${UNIT})`, 'g');

/**
 * `90s`, `1h30m`, `1.5d`, `1h 30m`, `2w`, `2 days`, `1 hour and 30 minutes` in milliseconds; `undefined` for anything else. Only `0` needs no unit.
 */
export function parseDuration(text: string): number | undefined {
  const compact = text
    .toLowerCase()
    .replace(/\band\b/g, '')
    .replace(/[\s,]+/g, '');
  if (compact === '0') return 0;
  if (!WHOLE.test(compact)) return undefined;
  let total = 0;
  for (const [, amount, unit = ''] of compact.matchAll(PART)) {
    total += Number(amount) * (MS_BY_UNIT.get(unit === 'ms' ? unit : unit.charAt(0)) ?? 0);
  }
  return Math.round(total);
}

/** A duration in the syntax of `parseDuration`: `5_400_000` is `1h30m`. Uses weeks only for whole weeks: `2w`, but `30d`. */
export function formatDuration(durationMs: number): string {
  let rest = Math.max(0, Math.round(durationMs));
  let text = '';
  for (const [unit, size] of UNITS) {
    if (unit === 'w' && rest % size !== 0) continue;
    const amount = Math.floor(rest / size);
    if (amount > 0) text += `${amount}${unit}`;
    rest -= amount * size;
  }
  return text === '' ? '0s' : text;
}

/** Whether it is the name of a time zone in the IANA database, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** The IANA time zone that a name most likely means: `Europe/Berlin` for `Berlin`, `America/New_York` for `new york`. */
export function similarTimeZone(typed: string): string | undefined {
  const wanted = typed.trim().toLowerCase().replaceAll(/\s+/g, '_');
  if (wanted === '') return undefined;
  return Intl.supportedValuesOf('timeZone').find(
    (zone) => zone.toLowerCase() === wanted || zone.toLowerCase().endsWith(`/${wanted}`),
  );
}

/** The calendar day in a time zone: `2026-01-31`. */
export function localDay(at: number, timeZone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(at);
}

/** Minutes since midnight in a time zone. */
export function localMinutes(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', minute: 'numeric', hourCycle: 'h23' });
  const part = (type: string) => Number(format.formatToParts(at).find((one) => one.type === type)?.value ?? 0);
  return part('hour') * 60 + part('minute');
}

/** A date and time as a calendar and a clock show it. */
export interface WallTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** A day beyond the end of the month counts into the next one. */
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

const wallFormats = new Map<string, Intl.DateTimeFormat>();

/** Date and time of day at a moment in a time zone. */
export function wallTime(at: number, timeZone: string): WallTime {
  const format = wallFormats.get(timeZone) ?? wallFormat(timeZone);
  wallFormats.set(timeZone, format);
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  return { year: part('year'), month: part('month'), day: part('day'), hour: part('hour'), minute: part('minute') };
}

function wallFormat(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', {
    timeZone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
  });
}

/** The moment of a date and time in a time zone, in milliseconds since 1970. A time that a clock change skips is moved forward by the length of the gap. */
export function momentOf(wall: WallTime, timeZone: string): number {
  const asUtc = utcOf(wall);
  const offsetAt = (at: number) => utcOf(wallTime(at, timeZone)) - Math.floor(at / 60_000) * 60_000;
  const guess = asUtc - offsetAt(asUtc);
  const moment = asUtc - offsetAt(guess);
  // A skipped time: the later moment has the offset before the change.
  return utcOf(wallTime(moment, timeZone)) === asUtc ? moment : Math.max(moment, guess);
}

function utcOf({ year, month, day, hour, minute }: WallTime): number {
  return Date.UTC(year, month - 1, day, hour, minute);
}

/** `22:00-07:00`, or an empty text. */
export const QUIET_HOURS = /^(?:(?:[01]?\d|2[0-3]):[0-5]\d-(?:[01]?\d|2[0-3]):[0-5]\d)?$/;

/** A daily period in a time zone. */
export interface QuietHours {
  /** `22:00-07:00` spans midnight. An empty text, or two equal times, means never. */
  readonly quietHours: string;
  readonly timeZone: string;
}

/** Whether a moment is within the quiet hours. */
export function isQuiet(at: number, { quietHours, timeZone }: QuietHours): boolean {
  const [from, to] = quietHours.split('-').map(minutesOf);
  if (from === undefined || to === undefined || from === to) return false;
  const now = localMinutes(at, timeZone);
  return from < to ? now >= from && now < to : now >= from || now < to;
}

function minutesOf(time: string): number | undefined {
  const [hours, minutes] = time.split(':').map(Number);
  return hours === undefined || minutes === undefined ? undefined : hours * 60 + minutes;
}
