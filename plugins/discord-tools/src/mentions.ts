import {
  type Channel,
  ChannelType,
  type GuildBasedChannel,
  MessageFlags,
  type MessageMentionOptions,
} from 'discord.js';
import type { Caller, Context } from './context.js';
import { placeOf } from './places.js';
import { may } from './rights.js';

/** How a text is sent, so that it pings and shows no more than if the requester had sent it. */
export interface MessageOptions {
  readonly allowedMentions: MessageMentionOptions;
  readonly flags?: MessageFlags.SuppressEmbeds;
}

/** Pings as in `mentionsIn`, none by a reply; previews of links only for those who may embed links there. */
export async function messageOptions(
  context: Context,
  caller: Caller,
  channel: Channel,
  text: string,
): Promise<MessageOptions> {
  const allowedMentions = { ...(await mentionsIn(context, caller, channel, text)), repliedUser: false };
  const isShown = !/https?:\/\//i.test(text) || (await may(context, caller, placeOf(channel), ['EmbedLinks']));
  return { allowedMentions, ...(isShown ? {} : { flags: MessageFlags.SuppressEmbeds }) };
}

/** For one message no more people than this are looked up and pinged. */
const MOST_PEOPLE = 20;
/** Discord's limit for each list of `allowed_mentions`. */
const MOST_ROLES = 100;
const PEOPLE = /<@!?(\d{1,20})>/g;
const ROLES = /<@&(\d{1,20})>/g;

/** Whom a text may ping: the people in it who can see the channel; @everyone and roles that are not mentionable only when the caller may. */
async function mentionsIn(
  context: Context,
  caller: Caller,
  channel: Channel,
  text: string,
): Promise<MessageMentionOptions> {
  if (channel.isDMBased()) return { parse: [], users: idsIn(text, PEOPLE).slice(0, MOST_PEOPLE), repliedUser: true };
  const at = placeOf(channel);
  const mayMentionAll = /@everyone|@here|<@&/.test(text) && (await may(context, caller, at, ['MentionEveryone']));
  const named = idsIn(text, ROLES);
  // In a private thread a mention adds every member who has the role.
  const isForAll =
    named.length > 0 &&
    (channel.type !== ChannelType.PrivateThread || (await may(context, caller, at, ['ManageThreads'])));
  const roles = named.filter(
    (id) => isForAll && (mayMentionAll || channel.guild.roles.cache.get(id)?.mentionable === true),
  );
  const people = idsIn(text, PEOPLE).slice(0, MOST_PEOPLE);
  const seeing = await Promise.all(people.map(async (id) => ((await canSee(context, channel, id)) ? [id] : [])));
  return {
    parse: mayMentionAll ? ['everyone'] : [],
    roles: roles.slice(0, MOST_ROLES),
    users: seeing.flat(),
    repliedUser: false,
  };
}

/** Whether a user sees the channel. A mention adds them to a private thread, so there they must be in it already. */
export async function canSee(
  { access }: Context,
  { guildId, id: channelId }: GuildBasedChannel,
  userId: string,
): Promise<boolean> {
  const place = { guildId, channelId };
  return access.mayEnter({ userId, ...place }, place);
}

function idsIn(text: string, pattern: RegExp): readonly string[] {
  return [...new Set([...text.matchAll(pattern)].flatMap((match) => match[1] ?? []))];
}
