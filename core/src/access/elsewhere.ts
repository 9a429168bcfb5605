import type { Actor, Clock } from '@cinnabar/sdk';
import {
  ChannelType,
  type Client,
  type Guild,
  type GuildBasedChannel,
  type GuildMember,
  type PermissionsString,
} from 'discord.js';
import type { GuildStates } from '../contracts.js';
import { GuildStanding, permissionsIn } from './guild-standing.js';
import { mayEnter } from './may-enter.js';
import type { Memberships } from './memberships.js';
import type { Vantage } from './reach.js';
import { type Absence, absent, type Found } from './standing.js';
import { unlessUnknown } from './unless-unknown.js';

interface Parts {
  readonly client: Client;
  readonly states: GuildStates;
  readonly isOwner: (userId: string) => boolean;
  readonly clock: Clock;
  readonly memberships: Memberships;
  readonly inDirectMessage: (actor: Actor) => Promise<Found>;
}

/** Who stands before a place: the guild, and its channel where one was named. */
interface Entry {
  readonly guild: Guild;
  readonly member: GuildMember;
  readonly me: GuildMember;
  readonly channel: GuildBasedChannel | undefined;
}

/** Looks up where somebody stands in a place in which they are not: they, and the bot, must be able to see it. */
export function createElsewhere({ client, states, isOwner, clock, memberships, inDirectMessage }: Parts) {
  const channelIn = async (guild: Guild, channelId: string): Promise<GuildBasedChannel | undefined> => {
    const channel = client.channels.cache.get(channelId) ?? (await unlessUnknown(client.channels.fetch(channelId)));
    const isThere = channel !== undefined && channel !== null && !channel.isDMBased() && channel.guildId === guild.id;
    return isThere ? channel : undefined;
  };

  const enter = async ({ userId, guildId, channelId }: Vantage, fresh: boolean): Promise<Entry | Absence> => {
    const guild = guildId === null ? undefined : client.guilds.cache.get(guildId);
    if (guild === undefined) return absent('I am not in that server');
    // Not the cached one: they need not have said anything for months.
    const member = await memberships.member(guild, userId, fresh);
    if (member === undefined) return absent('you are not in that server');
    const me = guild.members.me ?? (await guild.members.fetchMe());
    if (channelId === undefined) return { guild, member, me, channel: undefined };
    const channel = await channelIn(guild, channelId);
    if (channel === undefined) return absent('that channel is not in that server');
    if (!(await mayEnter(channel, member, memberships))) return absent('you cannot see that channel');
    if (!permissionsIn(channel, me).has('ViewChannel')) return absent('I cannot see that channel');
    return { guild, member, me, channel };
  };

  return {
    /** Whether they may go in now, and have these permissions there. A conversation is for the person it is with. */
    async mayEnter(vantage: Vantage, permissions: readonly PermissionsString[]): Promise<boolean> {
      const { userId, guildId, channelId } = vantage;
      if (guildId === null) {
        if (channelId === undefined) return false;
        const channel = client.channels.cache.get(channelId) ?? (await unlessUnknown(client.channels.fetch(channelId)));
        return channel?.type === ChannelType.DM && channel.recipientId === userId;
      }
      const entry = await enter(vantage, false);
      if ('because' in entry) return false;
      const { channel, member } = entry;
      const held = channel === undefined ? member.permissions : permissionsIn(channel, member);
      return permissions.every((permission) => held.has(permission));
    },
    async standing(vantage: Vantage, fresh: boolean): Promise<Found> {
      const { userId, guildId, channelId } = vantage;
      if (guildId === null) return inDirectMessage({ userId, guildId, channelId: channelId ?? '' });
      const state = states.peek(guildId) ?? (await states.load(guildId));
      const entry = await enter(vantage, fresh);
      if ('because' in entry) return entry;
      if (entry.member.user.bot) return absent('you are not in that server');
      return new GuildStanding({ ...entry, state, isBotOwner: isOwner(userId) }, clock);
    },
  };
}
