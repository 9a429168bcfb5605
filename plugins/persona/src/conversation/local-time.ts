import type { PersonaSettings } from '../settings.js';

export type LocalTime = Pick<PersonaSettings, 'timeZone' | 'utcOffset'>;

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000];

/** Date and time as people there have them: by the zone, or by the hours ahead of UTC. */
export function nowIn(
  { timeZone, utcOffset }: LocalTime,
  now: number,
): Readonly<Record<'date' | 'time' | 'zone', string>> {
  const shifted = new Date(timeZone === undefined ? now + utcOffset * HOUR_MS : now);
  const zone = timeZone ?? 'UTC';
  const written = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...options }).format(shifted);
  const ahead = `${utcOffset < 0 ? '' : '+'}${utcOffset}`;
  return {
    date: written({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }),
    time: written({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
    zone: timeZone ?? (utcOffset === 0 ? 'UTC' : `UTC${ahead}`),
  };
}

/** The hour of the day there, 0 to 23. */
export function hourIn(local: LocalTime, now: number): number {
  return Number(nowIn(local, now).time.slice(0, 2));
}

/** How long ago something was, in a word or two: `5 min ago`. */
export function ago(at: number, now: number): string {
  const passed = Math.max(0, now - at);
  if (passed < MINUTE_MS) return 'just now';
  if (passed < HOUR_MS) return `${Math.floor(passed / MINUTE_MS)} min ago`;
  if (passed < 2 * DAY_MS) return `${Math.floor(passed / HOUR_MS)} h ago`;
  return `${Math.floor(passed / DAY_MS)} days ago`;
}

/** Whether a zone has that name in the IANA database. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Whether the persona is to keep quiet unless it is asked. Hours may go over midnight; none when both are the same. */
export function isQuiet(
  { quietFrom, quietTo, ...local }: Pick<PersonaSettings, 'quietFrom' | 'quietTo'> & LocalTime,
  now: number,
): boolean {
  const hour = hourIn(local, now);
  if (quietFrom <= quietTo) return hour >= quietFrom && hour < quietTo;
  return hour >= quietFrom || hour < quietTo;
}
