import {
  channelsCalled,
  type FileProblem,
  type NamedKind,
  rolesCalled,
  type SettingMention,
  t,
  unlessUnreachable,
  z,
} from '@cinnabar/sdk';
import { ChannelType, type Client, REST, Routes } from 'discord.js';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** The names of a guild's roles and channels. */
export interface GuildDirectory {
  readonly name: string;
  readonly roles: readonly Named[];
  readonly channels: readonly (Named & { readonly isCategory: boolean })[];
  /** The name of a member who happens to be in the cache. */
  memberName(id: string): string | undefined;
}

/** The directory of a guild that the running bot is in. */
export function directoryOf(client: Client, guildId: string): GuildDirectory | undefined {
  const guild = client.guilds.cache.get(guildId);
  if (guild === undefined) return undefined;
  return {
    name: guild.name,
    roles: [...guild.roles.cache.values()].map(({ id, name }) => ({ id, name })),
    channels: [...guild.channels.cache.values()].map(({ id, name, type }) => ({
      id,
      name,
      isCategory: type === ChannelType.GuildCategory,
    })),
    memberName: (id) => guild.members.cache.get(id)?.displayName,
  };
}

/** The guild of a channel or role; `null` for a channel without one, `undefined` when it is not in the cache. */
export function guildOf(client: Client, kind: 'channel' | 'role', id: string): string | null | undefined {
  if (kind === 'role') return client.guilds.cache.find(({ roles }) => roles.cache.has(id))?.id;
  const channel = client.channels.cache.get(id);
  if (channel === undefined) return undefined;
  return channel.isDMBased() ? null : channel.guildId;
}

/** Ids of the channels, roles or known members of a guild that have a name. @param name in lower case */
export function idsCalled(client: Client, guildId: string, of: SettingMention, name: string): readonly string[] {
  const guild = client.guilds.cache.get(guildId);
  if (guild === undefined) return [];
  switch (of) {
    case 'channel':
      return channelsCalled(guild, name).map(({ id }) => id);
    case 'role':
      return rolesCalled(guild, name).map(({ id }) => id);
    case 'user':
    case 'member':
      return guild.members.cache
        .filter(({ displayName, user }) => [displayName, user.username].some((one) => one.toLowerCase() === name))
        .map(({ id }) => id);
  }
}

/** Whether an id is that of a channel or role outside of a guild. One that cannot be found counts as deleted. */
export async function isElsewhere(
  client: Client,
  guildId: string,
  kind: 'channel' | 'role',
  id: string,
): Promise<boolean> {
  if (kind === 'role') return client.guilds.cache.some((guild) => guild.id !== guildId && guild.roles.cache.has(id));
  const channel = await unlessUnreachable(client.channels.fetch(id));
  return channel !== undefined && channel !== null && (channel.isDMBased() || channel.guildId !== guildId);
}

const guildShape = z.object({ name: z.string(), roles: z.array(z.object({ id: z.string(), name: z.string() })) });
const channelsShape = z.array(z.object({ id: z.string(), name: z.string(), type: z.number() }));

/** Requests the names of a guild's roles and channels from Discord while the bot is stopped. @throws errors of discord.js */
export async function fetchDirectory(
  { token, discordApi }: { readonly token: string; readonly discordApi: string | undefined },
  guildId: string,
): Promise<GuildDirectory> {
  const rest = new REST(discordApi === undefined ? {} : { api: discordApi }).setToken(token);
  const [guild, channels] = await Promise.all([
    rest.get(Routes.guild(guildId)).then((answer) => guildShape.parse(answer)),
    rest.get(Routes.guildChannels(guildId)).then((answer) => channelsShape.parse(answer)),
  ]);
  return {
    name: guild.name,
    roles: guild.roles,
    channels: channels.map(({ id, name, type }) => ({ id, name, isCategory: type === ChannelType.GuildCategory })),
    memberName: () => undefined,
  };
}

/** The name of an id: `Fixers`, `#general`. */
export function nameIn(directory: GuildDirectory | undefined, id: string): string | undefined {
  const channel = directory?.channels.find((one) => one.id === id);
  if (channel !== undefined) return channel.isCategory ? channel.name : `#${channel.name}`;
  return directory?.roles.find((one) => one.id === id)?.name ?? directory?.memberName(id);
}

/** Finds a role or channel by id, mention or name. An id is accepted without a check, since its target may be deleted. */
export function findIn(
  directory: GuildDirectory | undefined,
  kind: NamedKind,
  text: string,
): { readonly id: string } | FileProblem {
  const id = /^(?:<(?:@[!&]?|#))?(\d{15,22})>?$/.exec(text)?.[1];
  if (id !== undefined) return { id };
  if (kind === 'user') return { problem: t('a member is named by id, in quotes') };
  if (directory === undefined)
    return { problem: t('names are looked up at Discord, which needs DISCORD_TOKEN; ids in quotes do without') };
  const name = text.replace(/^[@#]/, '').toLowerCase();
  const among =
    kind === 'role'
      ? directory.roles
      : directory.channels.filter((channel) => channel.isCategory === (kind === 'category'));
  const found = among.filter((one) => one.name.toLowerCase() === name);
  const [only] = found;
  if (only === undefined) return { problem: t('there is no {kind} called "{name}" in this server', { kind, name }) };
  if (found.length > 1)
    return { problem: t('several of this server are called "{name}": use an id, in quotes', { name }) };
  return { id: only.id };
}
