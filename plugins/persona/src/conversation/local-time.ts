import { isQuiet } from '@cinnabar/sdk';
import type { PersonaSettings } from '../settings.js';

type LocalTime = Pick<PersonaSettings, 'timeZone' | 'utcOffset'>;

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

/** How long ago something was, in a word or two: `5 min ago`. */
export function ago(at: number, now: number): string {
  const passed = Math.max(0, now - at);
  if (passed < MINUTE_MS) return 'just now';
  if (passed < HOUR_MS) return `${Math.floor(passed / MINUTE_MS)} min ago`;
  if (passed < 2 * DAY_MS) return `${Math.floor(passed / HOUR_MS)} h ago`;
  return `${Math.floor(passed / DAY_MS)} days ago`;
}

/** Whether the persona acts only when it is asked. */
export function isQuietNow(
  { quietFrom, quietTo, timeZone, utcOffset }: Pick<PersonaSettings, 'quietFrom' | 'quietTo'> & LocalTime,
  now: number,
): boolean {
  const quietHours = `${quietFrom}:00-${quietTo}:00`;
  if (timeZone !== undefined) return isQuiet(now, { quietHours, timeZone });
  return isQuiet(now + utcOffset * HOUR_MS, { quietHours, timeZone: 'UTC' });
}
