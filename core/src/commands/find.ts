import { isUnreachable, membersCalled, rolesCalled, t } from '@cinnabar/sdk';
import {
  type Attachment,
  type ChannelType,
  type Client,
  DiscordAPIError,
  DiscordjsError,
  DiscordjsErrorCodes,
  type Guild,
  type GuildBasedChannel,
  type GuildMember,
  RESTJSONErrorCodes,
  type Role,
  type User,
} from 'discord.js';
import { echo } from './answers.js';

/** A channel or thread of the guild by mention, id or name; of one of `types` when given. */
export async function findChannel(
  guild: Guild,
  typed: string,
  types: readonly ChannelType[] | undefined,
): Promise<Found<GuildBasedChannel>> {
  const fits = (channel: GuildBasedChannel) => types === undefined || types.includes(channel.type);
  const id = idIn(typed, /^<#(\d+)>$/);
  if (id !== undefined) {
    const channel = guild.channels.cache.get(id) ?? (await orNothing(guild.channels.fetch(id)));
    if (channel === null || channel === undefined) return { problem: t('That channel is not in this server.') };
    return fits(channel)
      ? { value: channel }
      : { problem: t('{channel} is not the kind of channel that is needed.', { channel: `${channel}` }) };
  }
  const name = plainName(typed, '#');
  const called = [...guild.channels.cache.values()].filter((one) => fits(one) && one.name.toLowerCase() === name);
  return only(called, 'channel', typed, (one) => `${one.name} (${one.id})`);
}

/** A member of the guild by mention, id, user name, display name or nickname (whole names only, so that no member is found by accident). */
export async function findMember(guild: Guild, typed: string): Promise<Found<GuildMember>> {
  const id = idIn(typed, /^<@!?(\d+)>$/);
  if (id !== undefined) {
    const member = await orNothing(guild.members.fetch(id));
    return member === undefined ? { problem: t('That user is not a member of this server.') } : { value: member };
  }
  return only(await membersCalled(guild, typed), 'member', typed, ({ user }) => user.tag);
}

/** A role of the guild by mention, id or name. */
export function findRole(guild: Guild, typed: string): Found<Role> {
  return only(rolesCalled(guild, typed), 'role', typed, (role) => `${role.name} (${role.id})`);
}

/** A user by mention or id; by name among the members of the guild, or among the two sides of a direct message. */
export async function findUser({ client, guild, user }: Place, typed: string): Promise<Found<User>> {
  const id = idIn(typed, /^<@!?(\d+)>$/);
  if (id !== undefined) {
    const known = await orNothing(client.users.fetch(id));
    return known === undefined ? { problem: t('There is no user with that id.') } : { value: known };
  }
  if (guild !== null) {
    const found = await findMember(guild, typed);
    return 'value' in found ? { value: found.value.user } : found;
  }
  const name = plainName(typed, '@');
  const sides = client.user === null ? [user] : [user, client.user];
  const called = sides.filter((side) => [side.username, side.displayName].some((one) => one.toLowerCase() === name));
  return only(called, 'user', typed, (one) => one.tag);
}

/** `undefined` when Discord answers that there is no such object, or none that the bot may see. @throws all other errors */
async function orNothing<T>(fetching: Promise<T>): Promise<T | undefined> {
  try {
    return await fetching;
  } catch (error) {
    if (isNotThere(error)) return undefined;
    throw error;
  }
}

function isNotThere(error: unknown): boolean {
  if (isUnreachable(error)) return true;
  if (error instanceof DiscordAPIError) return error.code === RESTJSONErrorCodes.InvalidFormBodyOrContentType;
  // discord.js throws this for the id of a channel in another guild of the bot.
  return error instanceof DiscordjsError && error.code === DiscordjsErrorCodes.GuildChannelUnowned;
}

const ID = /^\d{15,21}$/;

/** The id in a mention of the given form, or an id typed bare. */
function idIn(text: string, mention: RegExp): string | undefined {
  return mention.exec(text)?.[1] ?? (ID.test(text) ? text : undefined);
}

/** Names compare without case, with or without their sigil. */
function plainName(text: string, sigil: string): string {
  return (text.startsWith(sigil) ? text.slice(sigil.length) : text).toLowerCase();
}

/** Exactly one of several, otherwise a sentence with their number. */
function only<T>(
  matches: readonly T[],
  what: 'channel' | 'member' | 'role' | 'user',
  typed: string,
  nameOf: (match: T) => string,
): Found<T> {
  const [first, second] = matches;
  if (first === undefined) {
    return {
      problem: t(
        'There is no {what, select, channel {channel} member {member} role {role} other {user}} called {typed} here.',
        { what, typed: echo(typed) },
      ),
    };
  }
  if (second === undefined) return { value: first };
  const names = matches.slice(0, 5).map((match) => echo(nameOf(match)));
  return {
    problem: t(
      'More than one {what, select, channel {channel} member {member} role {role} other {user}} is called {typed}: {names}. Use a mention or an id.',
      { what, typed: echo(typed), names: names.join(', ') },
    ),
  };
}

/** The place and user of a command, where the names of members, roles and channels in its options are looked up. */
export interface Place {
  readonly client: Client;
  readonly guild: Guild | null;
  readonly user: User;
  /** Files that came along, by id. */
  readonly attachments: ReadonlyMap<string, Attachment>;
}

/** The value, or one sentence about why it was not found. */
export type Found<T> = { readonly value: T } | { readonly problem: string };
