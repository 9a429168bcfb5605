const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
];
const MS_BY_UNIT = new Map(UNITS);
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|[wdhms]))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|[wdhms])/g;

/** `90s`, `1h30m`, `1.5d`, `1h 30m`, `2w` in milliseconds; `undefined` for anything else. Only `0` needs no unit. */
export function parseDuration(text: string): number | undefined {
  const compact = text.replace(/\s+/g, '').toLowerCase();
  if (compact === '0') return 0;
  if (!WHOLE.test(compact)) return undefined;
  let total = 0;
  for (const [, amount, unit = ''] of compact.matchAll(PART)) total += Number(amount) * (MS_BY_UNIT.get(unit) ?? 0);
  return Math.round(total);
}

/** A form that `parseDuration` reads back: `5_400_000` is `1h30m`. Weeks only where they are whole: `2w`, but `30d`. */
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

/** `22:00-07:00`, or nothing. */
export const QUIET_HOURS = /^(?:(?:[01]?\d|2[0-3]):[0-5]\d-(?:[01]?\d|2[0-3]):[0-5]\d)?$/;

export interface QuietHours {
  /** `22:00-07:00` goes over midnight; empty, or two times that are the same, means never. */
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
