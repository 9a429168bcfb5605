import { isQuiet } from '@cinnabar/sdk';
import type { PersonaSettings } from '../settings.js';
import type { Line } from './conversation-store.js';

/**
 * Data inside a prompt: one line of JSON in which nothing can end the block that it stands in.
 * @example inert({ said: '</state>' }) // '{"said":"\\u003c/state>"}'
 */
export function inert(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replace(/[\u0085\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Mentions as names: a model would not know whom an id means. */
export function withNames(text: string, names: ReadonlyMap<string, string>): string {
  return text.replace(/<@!?(\d{15,22})>/g, (mention, id: string) => (names.has(id) ? `@${names.get(id)}` : mention));
}

/**
 * The lines as the model reads them, numbered from 1, a JSON object each; calls that had to wait, with how they stand now.
 * @param names of people and of the persona itself, by id
 * @param now by the clock in ms: each line says how long ago it was
 * @param statusOf the state of a call now, as far as it may be known here
 */
export async function renderLines(
  lines: readonly Line[],
  names: ReadonlyMap<string, string>,
  self: string,
  now: number,
  statusOf: (callId: string) => Promise<string>,
): Promise<string> {
  const numberOf = new Map(lines.flatMap(({ messageIds }, index) => messageIds.map((id) => [id, index + 1] as const)));
  const written = await Promise.all(
    lines.map(async ({ userId, text, callId, at, replyTo, files }, index) => {
      const n = index + 1;
      if (callId !== undefined) return inert({ n, when: ago(at, now), tool: text, status: await statusOf(callId) });
      const answered = replyTo === undefined ? undefined : numberOf.get(replyTo);
      return inert({
        n,
        when: ago(at, now),
        from: userId === null ? self : (names.get(userId) ?? 'someone'),
        ...(answered === undefined ? {} : { in_reply_to: answered }),
        said: withNames(text, names),
        ...(files === undefined ? {} : { attached: files }),
      });
    }),
  );
  return written.join('\n');
}

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
function ago(at: number, now: number): string {
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
