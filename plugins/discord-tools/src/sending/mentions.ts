import { type Channel, ChannelType, type GuildBasedChannel, type MessageMentionOptions } from 'discord.js';
import type { Caller, Parts } from '../parts.js';
import { may } from '../reaching/may.js';
import { placeOf } from '../reaching/places.js';

/** More people than this are not looked up for one message, and so not pinged. */
const MOST_PEOPLE = 20;
/** Discord's limit for each list of `allowed_mentions`. */
const MOST_ROLES = 100;

/**
 * Whom a text may ping: the people in it who can see the channel. Everyone, and roles that are not for everybody to mention, only when
 * whoever asks might do so themselves.
 */
export async function mentionsIn(
  parts: Pick<Parts, 'access'>,
  caller: Caller,
  channel: Channel,
  text: string,
): Promise<MessageMentionOptions> {
  if (channel.isDMBased()) return { parse: [], users: idsIn(text, PEOPLE).slice(0, MOST_PEOPLE), repliedUser: true };
  const at = placeOf(channel);
  const mayMentionAll = /@everyone|@here|<@&/.test(text) && (await may(parts, caller, at, ['MentionEveryone']));
  const named = idsIn(text, ROLES);
  // A mention lets everybody who has the role into a private thread.
  const isForAll =
    named.length > 0 &&
    (channel.type !== ChannelType.PrivateThread || (await may(parts, caller, at, ['ManageThreads'])));
  const roles = named.filter(
    (id) => isForAll && (mayMentionAll || channel.guild.roles.cache.get(id)?.mentionable === true),
  );
  const people = idsIn(text, PEOPLE).slice(0, MOST_PEOPLE);
  const seeing = await Promise.all(people.map(async (id) => ((await canSee(parts, channel, id)) ? [id] : [])));
  return {
    parse: mayMentionAll ? ['everyone'] : [],
    roles: roles.slice(0, MOST_ROLES),
    users: seeing.flat(),
    repliedUser: false,
  };
}

/** Whether somebody is in the guild and sees the channel. Mentioning them in a private thread would let them in, so there they must be in it. */
export async function canSee(
  { access }: Pick<Parts, 'access'>,
  { guildId, id: channelId }: GuildBasedChannel,
  userId: string,
): Promise<boolean> {
  const place = { guildId, channelId };
  return access.mayEnter({ userId, ...place }, place);
}

const PEOPLE = /<@!?(\d{1,20})>/g;
const ROLES = /<@&(\d{1,20})>/g;

function idsIn(text: string, pattern: RegExp): readonly string[] {
  return [...new Set([...text.matchAll(pattern)].flatMap((match) => match[1] ?? []))];
}
