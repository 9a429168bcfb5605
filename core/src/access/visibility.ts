import {
  type Access,
  type Actor,
  compareIds,
  idBefore,
  type Logger,
  type MessageOrigin,
  type MessageOriginSource,
  type MessageOrigins,
  maxEntries,
  newerId,
  OLDEST_ID,
  type Place,
  type Provenance,
  permissionName,
  type ToolSource,
  unlessUnreachable,
} from '@cinnabar/sdk';
import {
  ChannelType,
  type Client,
  DiscordAPIError,
  Events,
  GatewayIntentBits,
  type GuildBasedChannel,
  type GuildMember,
  PermissionFlagsBits,
  type PermissionOverwrites,
  PermissionsBitField,
  type PermissionsString,
  type PrivateThreadChannel,
  type Role,
} from 'discord.js';
import { LRUCache } from 'lru-cache';
import type { Memberships, Permissions } from './subjects.js';

const { ViewChannel, ReadMessageHistory, Connect } = PermissionFlagsBits;

/**
 * Whether all members who can see the place `shown` may read the place `read`, by roles and overwrites alone: no member is fetched. Where roles and overwrites
 * do not decide it, the answer is `false`.
 */
function isOpenTo(client: Client, read: Place, shown: Place): boolean {
  if (read.channelId !== undefined && read.channelId === shown.channelId) return true;
  // A direct message has one reader, who may read the source. The content of a direct message is shown in no other place.
  if (shown.guildId === null) return read.guildId !== null;
  if (read.guildId !== shown.guildId) return false;
  // A guild's members and roles are for its members.
  if (read.channelId === undefined) return true;
  const [from, to] = [client.channels.cache.get(read.channelId), client.channels.cache.get(shown.channelId ?? '')];
  if (from === undefined || to === undefined || from.isDMBased() || to.isDMBased()) return false;
  return !isPrivateThread(from) && seesBoth(homeOf(to), homeOf(from));
}

/** A thread is visible to those who see its parent; a private thread to fewer. */
function homeOf(channel: GuildBasedChannel): GuildBasedChannel {
  return channel.isThread() ? (channel.parent ?? channel) : channel;
}

/** Whether all who can see `one` may read `other`. */
function seesBoth(one: GuildBasedChannel, other: GuildBasedChannel): boolean {
  const { everyone, cache: roles } = other.guild.roles;
  // A thread and its parent have the same viewers. They all have the history if everybody has it, and no overwrite denies it to some.
  if (one.id === other.id) {
    const isDenied = overwritesOf(other).some(({ deny }) => deny.has(ReadMessageHistory));
    return !isDenied && other.permissionsFor(everyone)?.has(ReadMessageHistory) === true;
  }
  const hides = (overwrite: PermissionOverwrites) => overwrite.deny.any(ViewChannel | ReadMessageHistory | Connect);
  // A member who sees `one` may be denied `other` by an overwrite for a member or role.
  const shutsOut = overwritesOf(other).some((overwrite) => overwrite.id !== everyone.id && hides(overwrite));
  if (shutsOut) return false;
  if (reads(other, everyone)) return true;
  if (sees(one, everyone)) return false;
  const isBot = (id: string) => id === other.client.user.id;
  const people = overwritesOf(one).filter(({ id, allow }) => !roles.has(id) && !isBot(id) && allow.has(ViewChannel));
  const admitted = [...roles.values()].filter((role) => role.tags?.botId === undefined && sees(one, role));
  const peopleToo = people.every(({ id }) =>
    overwritesOf(other).some((there) => there.id === id && admits(there, other)),
  );
  return peopleToo && admitted.every((role) => reads(other, role));
}

const overwritesOf = (channel: GuildBasedChannel): readonly PermissionOverwrites[] =>
  'permissionOverwrites' in channel ? [...channel.permissionOverwrites.cache.values()] : [];

const needed = (channel: GuildBasedChannel) =>
  ViewChannel | ReadMessageHistory | (channel.isVoiceBased() ? Connect : 0n);

const admits = ({ allow }: PermissionOverwrites, channel: GuildBasedChannel) => allow.has(needed(channel));

const sees = (channel: GuildBasedChannel, who: Role | GuildMember) =>
  channel.permissionsFor(who)?.has(ViewChannel) === true;

const reads = (channel: GuildBasedChannel, role: Role) => channel.permissionsFor(role)?.has(needed(channel)) === true;

/**
 * Whether a member can read the messages of a channel. In a voice channel these are the members who may join it; in a private thread its members and those with
 * Manage Threads, whatever the parent allows. No other module decides this, or computes permissions of a user other than the bot.
 * @param member from `Memberships`
 */
export async function mayEnter(
  channel: GuildBasedChannel,
  member: GuildMember,
  memberships: Pick<Memberships, 'isInThread'>,
): Promise<boolean> {
  const permissions = permissionsIn(channel, member);
  if (!permissions.has(PermissionFlagsBits.ViewChannel)) return false;
  if (channel.isVoiceBased()) return permissions.has(PermissionFlagsBits.Connect);
  if (!isPrivateThread(channel) || permissions.has(PermissionFlagsBits.ManageThreads)) return true;
  return memberships.isInThread(channel, member.id);
}

export function isPrivateThread(channel: GuildBasedChannel): channel is PrivateThreadChannel {
  return channel.type === ChannelType.PrivateThread;
}

/** A thread whose parent is gone grants nothing. */
export function permissionsIn(channel: GuildBasedChannel, member: GuildMember): Permissions {
  return channel.permissionsFor(member) ?? NO_PERMISSIONS;
}

/** The permissions of every participant, including the bot, in a direct message, for which Discord stores none. */
export const IN_DIRECT_MESSAGES = new PermissionsBitField([
  'ViewChannel',
  'SendMessages',
  'EmbedLinks',
  'AttachFiles',
  'AddReactions',
  'UseExternalEmojis',
  'ReadMessageHistory',
]).freeze();

export const NO_PERMISSIONS = new PermissionsBitField().freeze();

/** The wanted permissions that are missing. In a thread, `SendMessagesInThreads` replaces `SendMessages`. */
export function missingPermissions(
  held: Readonly<PermissionsBitField>,
  wanted: readonly PermissionsString[],
  inThread: boolean,
): readonly PermissionsString[] {
  const inPlace = wanted.map((name) => (inThread && name === 'SendMessages' ? 'SendMessagesInThreads' : name));
  return inPlace.filter((name) => !held.has(name));
}

/** `ManageMessages` as people know it, for the `{permissions}` of a message: "Manage Messages". */
export const permissionNames = (permissions: readonly PermissionsString[]) => ({
  permissions: permissions.map(permissionName).join(', '),
});

const TIMED_OUT = PermissionFlagsBits.ViewChannel | PermissionFlagsBits.ReadMessageHistory;

/** A member in a time-out can only read, unless they are an administrator: https://discord.com/developers/docs/topics/permissions */
export function whileTimedOut(permissions: Readonly<PermissionsBitField>): Readonly<PermissionsBitField> {
  if (permissions.has(PermissionFlagsBits.Administrator)) return permissions;
  return new PermissionsBitField(permissions.bitfield & TIMED_OUT).freeze();
}

export interface ProvenanceService extends Provenance {
  readonly messages: ExistingMessages;
}

/** Decides who may be shown content from a source, by the current permissions and messages. */
export function createProvenance(client: Client, access: Pick<Access, 'mayEnter'>, log: Logger): ProvenanceService {
  const messages = createExistingMessages(client, log);

  const mayRead = (actor: Actor, source: ToolSource) =>
    access.mayEnter(actor, source, source.messageIds === undefined ? [] : ['ReadMessageHistory']);

  const exists = async ({ channelId, messageIds = [] }: ToolSource) =>
    messageIds.length === 0 || (channelId !== undefined && (await messages.stand(channelId, messageIds)));

  const all = async (sources: readonly ToolSource[], holds: (source: ToolSource) => Promise<boolean>) => {
    try {
      for (const source of sources) if (!(await holds(source))) return false;
      return true;
    } catch (error) {
      log.warn('it could not be found out who may be shown a result, so it is not shown', { error });
      return false;
    }
  };

  return {
    messages,
    async mayShow(sources, to) {
      if (sources === undefined) return false;
      const mayAll = (source: ToolSource) =>
        Promise.all(to.map((actor) => mayRead(actor, source))).then((may) => may.every(Boolean));
      return all(sources, async (source) => (await mayAll(source)) && exists(source));
    },
    async mayHave(sources, userId) {
      if (sources === undefined) return false;
      // Each source is checked with the member as an actor in that source, because members may have their own part of a direct conversation.
      return all(sources, async (source) => {
        const { guildId, channelId = '' } = source;
        return (await mayRead({ userId, guildId, channelId }, source)) && exists(source);
      });
    },
    mayTell: (sources, at) => sources?.every((source) => isOpenTo(client, source, at)) === true,
  };
}

const MOST_REMEMBERED = 100_000;
const PAGE = 100;
/** Pages of history that are read for one check. Messages that lie beyond them count as deleted. */
const MOST_PAGES = 5;

type ExistingMessages = ReturnType<typeof createExistingMessages>;

/** A cache of which messages exist, kept current by gateway events. After a new session, existence is requested from Discord again. */
function createExistingMessages(client: Client, log: Logger) {
  const known = new LRUCache<string, 'there' | 'gone'>(maxEntries(MOST_REMEMBERED));

  const gone = (messageIds: readonly string[]) => {
    for (const id of messageIds) known.set(id, 'gone');
  };
  client.on(Events.MessageDelete, ({ id }) => gone([id]));
  client.on(Events.MessageBulkDelete, (messages) => gone([...messages.keys()]));
  client.on(Events.ShardReady, () => {
    for (const [id, state] of known.entries()) if (state === 'there') known.delete(id);
  });

  /** Whether Discord sends deletions in this channel. Otherwise an answer is used only for the request that needs it. */
  const hasDeletionEvents = (channelId: string) => {
    const channel = client.channels.cache.get(channelId);
    const intent = channel?.isDMBased() === true ? GatewayIntentBits.DirectMessages : GatewayIntentBits.GuildMessages;
    return client.options.intents.has(intent);
  };

  /** Reads pages from the oldest message on: messages that were read together are usually close to each other. */
  const look = async (channelId: string, wanted: readonly string[]): Promise<boolean> => {
    const channel = await unlessUnreachable(client.channels.fetch(channelId));
    if (channel?.isTextBased() !== true) return false;
    let left = [...wanted].sort(compareIds);
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const [first] = left;
      if (first === undefined) return true;
      const after = idBefore(first);
      const page = await unlessUnreachable(channel.messages.fetch({ after, limit: PAGE, cache: false }));
      if (page === undefined) return false;
      const newest = [...page.keys()].reduce(newerId, OLDEST_ID);
      const isWhole = page.size < PAGE;
      const missing = left.filter((id) => !page.has(id) && (isWhole || compareIds(id, newest) <= 0));
      for (const id of page.keys()) known.set(id, 'there');
      if (missing.length > 0) {
        gone(missing);
        return false;
      }
      left = left.filter((id) => !page.has(id));
    }
    return left.length === 0;
  };

  return {
    /** Notes messages that have just been read. */
    seen(channelId: string, messageIds: readonly string[]): void {
      if (!hasDeletionEvents(channelId)) return;
      for (const id of messageIds) if (known.get(id) !== 'gone') known.set(id, 'there');
    },
    /** Whether all these messages still exist. Requests from Discord those that are not in the cache. */
    async stand(channelId: string, messageIds: readonly string[]): Promise<boolean> {
      if (messageIds.some((id) => known.get(id) === 'gone')) return false;
      const doubted = hasDeletionEvents(channelId) ? messageIds.filter((id) => known.get(id) !== 'there') : messageIds;
      if (doubted.length === 0) return true;
      try {
        return await look(channelId, doubted);
      } catch (error) {
        if (!(error instanceof DiscordAPIError)) throw error;
        log.info('it could not be looked up whether messages are still there', { channelId, error });
        return false;
      }
    },
  };
}

/** Which turn a sent message belongs to, as reported by the plugins that send messages. When several report a turn, that of the source added first is used. */
export function createMessageOrigins(log: Logger): MessageOrigins {
  const sources = new Set<MessageOriginSource>();
  return {
    async of(channelId, messageIds) {
      const found = new Map<string, MessageOrigin>();
      if (messageIds.length === 0) return found;
      for (const source of sources) {
        try {
          for (const [id, origin] of await source(channelId, messageIds)) if (!found.has(id)) found.set(id, origin);
        } catch (error) {
          log.warn('the origin of messages could not be looked up', { channelId, error });
        }
      }
      return found;
    },
    add(source) {
      const own: MessageOriginSource = (channelId, ids) => source(channelId, ids);
      sources.add(own);
      return async () => void sources.delete(own);
    },
  };
}
