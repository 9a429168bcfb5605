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
import type { Line } from './conversation-store.js';

const MENTION = /<@!?(\d{15,22})>/g;
/** One line may mention a hundred; a conversation needs the names of a few. */
const MOST_MENTIONED = 20;

/** Those who are mentioned in a conversation, whether or not they have spoken in it. */
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

/** Looks up by mention or name who is meant, of all who are there. */
export type FindMember = (called: string) => Promise<PersonaContact | undefined>;

/** Among the members of the channel's guild. The result rejects with UserError when several have the name: one of them would be the wrong one. */
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

/** Names for those in a conversation, by id: readable, different from one another, and none of them the persona's. */
export function namesIn(lines: readonly Line[], more: readonly Named[], self: string): ReadonlyMap<string, string> {
  const people = lines.flatMap(({ userId, displayName, username }): Named[] =>
    userId === null ? [] : [{ id: userId, displayName, username }],
  );
  return participantNames([...people, ...more], [self, 'System', 'Situation']);
}
