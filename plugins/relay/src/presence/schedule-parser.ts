import { UserError } from '@cinnabar/sdk';
import { Cron } from 'croner';

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const LEAST_MS = 10 * 60_000;

/** When something is to happen again and again. */
interface Plan {
  /** The next time after `at`, in milliseconds since the Unix epoch. */
  after(at: number): number;
}

/**
 * Reads `every day 9:00`, `every weekday 18:30`, `every mon, thu 9:00`, `every 4h` or `every 90m`.
 * @param timeZone of the times of day
 * @throws UserError when it is none of these
 */
export function readPlan(text: string, timeZone: string): Plan {
  const words = /^every\s+(.+)$/iu.exec(text.trim())?.[1]?.trim().toLowerCase() ?? '';
  return readInterval(words) ?? readTimes(words, timeZone) ?? unreadable();
}

function readInterval(words: string): Plan | undefined {
  const [, count, unit] = /^(\d{1,4})\s*([mhd])$/u.exec(words) ?? [];
  if (count === undefined || (unit !== 'm' && unit !== 'h' && unit !== 'd')) return undefined;
  const every = Number(count) * UNIT_MS[unit];
  if (every < LEAST_MS) throw new UserError('That is too often: wake-ups are at least 10 minutes apart.');
  return { after: (at) => at + every };
}

function readTimes(words: string, timeZone: string): Plan | undefined {
  const [, which = '', hour, minute] = /^(\D+?)\s+(?:at\s+)?([01]?\d|2[0-3]):([0-5]\d)$/u.exec(words) ?? [];
  const days = daysOf(which);
  if (days === undefined || hour === undefined || minute === undefined) return undefined;
  const times = new Cron(`${Number(minute)} ${Number(hour)} * * ${days}`, { timezone: timeZone, paused: true });
  return { after: (at) => times.nextRun(new Date(at))?.getTime() ?? at + UNIT_MS.d };
}

/** As the field of a cron line. */
function daysOf(which: string): string | undefined {
  if (which === 'day') return '*';
  if (which === 'weekday') return '1-5';
  const numbers = which.split(/[\s,]+/u).map((word) => DAYS.findIndex((day) => word.startsWith(day)));
  return numbers.includes(-1) ? undefined : numbers.join(',');
}

function unreadable(): never {
  throw new UserError(
    'I do not understand when that is. Write for instance `"every day 9:00"`, `"every weekday 18:30"`, `"every mon, thu 9:00"` or `"every 4h"`.',
  );
}
