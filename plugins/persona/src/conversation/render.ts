import {
  isUnknown,
  type Logger,
  membersCalled,
  type Named,
  type PersonaContact,
  participantNames,
  sanitizeName,
  UserError,
} from '@cinnabar/sdk';
import type { GuildMember, SendableChannels } from 'discord.js';
import type { PersonaSettings } from '../context.js';
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

/** Replaces mentions by names, because a model cannot know whom an id means. */
export function withNames(text: string, names: ReadonlyMap<string, string>): string {
  return text.replace(/<@!?(\d{15,22})>/g, (mention, id: string) => (names.has(id) ? `@${names.get(id)}` : mention));
}

/**
 * The lines as the model reads them: one JSON object each, numbered from 1; deferred calls with their current state.
 * @param names of people and of the persona itself, by id
 * @param now in ms since the epoch; each line says how long ago it was
 * @param statusOf resolves with the current state of a call, as far as it may be shown in the channel
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

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000];

/** Local date and time: by time zone, or by the hours ahead of UTC. */
export function nowIn(
  { timeZone, utcOffset }: Pick<PersonaSettings, 'timeZone' | 'utcOffset'>,
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

const MENTION = /<@!?(\d{15,22})>/g;
/** One line may contain a hundred mentions; the names of a few are enough for a conversation. */
const MOST_MENTIONED = 20;

/** The members who are mentioned in a conversation, whether or not they have spoken in it. */
export async function mentionedIn(
  lines: readonly Pick<Line, 'text'>[],
  channel: SendableChannels,
): Promise<readonly Named[]> {
  const ids = lines.flatMap(({ text }) => [...text.matchAll(MENTION)].map(([, id = '']) => id));
  const latest = [...new Set(ids.reverse())].slice(0, MOST_MENTIONED);
  const found = await Promise.all(latest.map((id) => named(id, channel)));
  return found.flatMap((one) => one ?? []);
}

async function named(id: string, channel: SendableChannels): Promise<Named | undefined> {
  const { client } = channel;
  const guild = channel.isDMBased() ? undefined : channel.guild;
  const member = guild?.members.cache.get(id);
  const user = member?.user ?? client.users.cache.get(id) ?? (await client.users.fetch(id).catch(() => undefined));
  return user && { id, displayName: member?.displayName ?? user.displayName, username: user.username };
}

/** Finds a member by mention or name; `undefined` without one. */
export type FindMember = (called: string) => Promise<PersonaContact | undefined>;

/** Searches the members of the channel's guild. The result rejects with UserError when several members have the name. */
export function memberFinder(channel: SendableChannels, log: Logger): FindMember {
  return async (called) => {
    if (channel.isDMBased()) return undefined;
    const { guild } = channel;
    const id = /^<@!?(\d{15,22})>$/.exec(called)?.[1];
    try {
      const found = id === undefined ? await membersCalled(guild, called) : [await guild.members.fetch(id)];
      const [member, ...others] = found;
      if (others.length > 0) throw new UserError(severalAre(called, found));
      return member && { userId: member.id, name: sanitizeName(member.displayName) || member.user.username };
    } catch (error) {
      if (error instanceof UserError) throw error;
      if (!isUnknown(error)) log.warn('a member could not be looked up by name', { guildId: guild.id, error });
      return undefined;
    }
  };
}

const MOST_NAMED = 5;

function severalAre(called: string, members: readonly GuildMember[]): string {
  const names = members.slice(0, MOST_NAMED).map(({ user }) => user.username);
  return `several members are called ${called}: their user names are ${names.join(', ')}; say which one`;
}

/** Readable names for the members in a conversation, by id: different from each other and from the persona's name. */
export function namesIn(lines: readonly Line[], more: readonly Named[], self: string): ReadonlyMap<string, string> {
  const people = lines.flatMap(({ userId, displayName, username }): Named[] =>
    userId === null ? [] : [{ id: userId, displayName, username }],
  );
  return participantNames([...people, ...more], [self, 'System', 'Situation']);
}
