import {
  type Client,
  GatewayIntentBits,
  type Guild,
  type GuildBasedChannel,
  type GuildMember,
  type Role,
} from 'discord.js';
import type { Place } from '../access.js';
import { UserError } from '../errors.js';
import { t } from '../text/language.js';
import { nameText } from '../text/untrusted.js';

/**
 * A channel as a place, fetched from Discord when it is not cached (an archived thread, for instance). One that cannot be found counts as a direct message,
 * which only its recipient can see.
 */
export async function findPlace(client: Client, channelId: string): Promise<Place> {
  const channel = await client.channels.fetch(channelId).catch(() => null);
  return { guildId: channel === null || channel.isDMBased() ? null : channel.guildId, channelId };
}

/** The guild of a command or action. @throws UserError in a direct message */
export function requireGuild({ guild }: { readonly guild: Guild | null }): Guild {
  if (guild === null) throw new UserError(t('This only works in a server.'));
  return guild;
}

/** The guild's id in an actor or place. @throws UserError in a direct message */
export function requireGuildId({ guildId }: { readonly guildId: string | null }): string {
  if (guildId === null) throw new UserError(t('This only works in a server.'));
  return guildId;
}

/** The guild of an actor or place. @throws UserError in a direct message, or when the bot is not in it any more */
export function requireGuildOf(client: Client, { guildId }: { readonly guildId: string | null }): Guild {
  return requireGuild({ guild: (guildId === null ? undefined : client.guilds.cache.get(guildId)) ?? null });
}

/**
 * The channel that a thread belongs to; any other channel itself. Data that is stored for a channel (a budget, a party) also applies to its threads.
 * A channel that is deleted or cannot be seen counts as a separate one.
 */
export async function homeChannelOf(client: Pick<Client, 'channels'>, channelId: string): Promise<string> {
  const channel = client.channels.cache.get(channelId) ?? (await client.channels.fetch(channelId).catch(() => null));
  return channel?.isThread() === true ? (channel.parentId ?? channelId) : channelId;
}

/** No name in Discord is longer. */
const MAX_NAME_LENGTH = 32;
/** Discord's maximum number of results of one search. */
const SEARCH_LIMIT = 100;

/**
 * The members of a guild with this name: as user name, display name or nickname, whole, in any case, with or without `@`. A match by user name is returned
 * alone. Searches with Discord's API unless the cached members are sure to be complete.
 */
export async function membersCalled(guild: Guild, typed: string): Promise<readonly GuildMember[]> {
  const name = (typed.startsWith('@') ? typed.slice(1) : typed).toLowerCase();
  if (name === '' || name.length > MAX_NAME_LENGTH) return [];
  const cached = matching(guild.members.cache.values(), name);
  // A user name is unique; any other name might also belong to a member that is not cached.
  const certain = cached.some((member) => member.user.username === name) || isComplete(guild);
  if (certain) return cached;
  const found = await guild.members.search({ query: name, limit: SEARCH_LIMIT });
  return matching(new Set([...cached, ...found.values()]), name);
}

/** Whether the cache has all members. Without the intent, Discord does not send joins, and `memberCount` is that of the start. */
function isComplete({ client, members, memberCount }: Guild): boolean {
  return client.options.intents.has(GatewayIntentBits.GuildMembers) && members.cache.size >= memberCount;
}

function matching(members: Iterable<GuildMember>, name: string): readonly GuildMember[] {
  const all = [...members];
  const byUsername = all.filter((member) => member.user.username.toLowerCase() === name);
  return byUsername.length > 0 ? byUsername : all.filter((member) => namesOf(member).includes(name));
}

function namesOf(member: GuildMember): readonly string[] {
  return [member.displayName, member.user.displayName].map((name) => name.toLowerCase());
}

/** The roles of a guild that a mention, an id or a name means; names compare without case, with or without `@`. */
export function rolesCalled(guild: Guild, typed: string): readonly Role[] {
  return called(guild.roles.cache, typed, MENTION_OF_ROLE, '@');
}

/** The channels and known threads of a guild that a mention, an id or a name means; names compare without case, with or without `#`. */
export function channelsCalled(guild: Guild, typed: string): readonly GuildBasedChannel[] {
  return called(guild.channels.cache, typed, MENTION_OF_CHANNEL, '#');
}

const MENTION_OF_ROLE = /^<@&(\d+)>$/;
const MENTION_OF_CHANNEL = /^<#(\d+)>$/;

function called<T extends { readonly name: string }>(
  all: ReadonlyMap<string, T>,
  typed: string,
  mention: RegExp,
  sigil: string,
): readonly T[] {
  const text = typed.trim();
  const byId = all.get(mention.exec(text)?.[1] ?? text);
  if (byId !== undefined) return [byId];
  const plain = (name: string) => (name.startsWith(sigil) ? name.slice(sigil.length) : name).toLowerCase();
  return [...all.values()].filter(({ name }) => plain(name) === plain(text));
}

/** The only role that matches the text of a model or a person. @throws UserError when there is none, or several */
export function roleCalled(guild: Guild, typed: string): Role {
  const [role, another] = rolesCalled(guild, typed);
  if (role === undefined) throw new UserError(t('There is no role called {name} here.', { name: nameText(typed) }));
  if (another === undefined) return role;
  throw new UserError(t('More than one role is called {name}: use a mention or an id.', { name: nameText(typed) }));
}

/** The only channel that matches the text of a model or a person. @throws UserError when there is none, or several */
export function channelCalled(guild: Guild, typed: string): GuildBasedChannel {
  const [channel, another] = channelsCalled(guild, typed);
  if (channel === undefined)
    throw new UserError(t('There is no channel called {name} here.', { name: nameText(typed) }));
  if (another === undefined) return channel;
  throw new UserError(t('More than one channel is called {name}: use a mention or an id.', { name: nameText(typed) }));
}

/** The target of a Discord link. */
export interface DiscordLink {
  /** `null` for a direct message. */
  readonly guildId: string | null;
  readonly channelId: string;
  readonly messageId?: string;
}

const LINK =
  /^<?https:\/\/(?:www\.|ptb\.|canary\.)?discord(?:app)?\.com\/channels\/(@me|\d{1,20})\/(\d{1,20})(?:\/(\d{1,20}))?\/?>?$/;

/** Reads a link to a channel or a message; `undefined` for anything else. */
export function readDiscordLink(text: string): DiscordLink | undefined {
  const [, guild, channelId, messageId] = LINK.exec(text.trim()) ?? [];
  if (guild === undefined || channelId === undefined) return undefined;
  return {
    guildId: guild === '@me' ? null : guild,
    channelId,
    ...(messageId === undefined ? {} : { messageId }),
  };
}
