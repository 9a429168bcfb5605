import type { Actor, Clock } from '@cinnabar/sdk';
import type { Client, Guild, GuildBasedChannel } from 'discord.js';
import type { GuildStates } from '../contracts.js';
import { GuildStanding, permissionsIn } from './guild-standing.js';
import { mayEnter } from './may-enter.js';
import type { Vantage } from './reach.js';
import { absent, type Found } from './standing.js';
import { unlessUnknown } from './unless-unknown.js';

interface Parts {
  readonly client: Client;
  readonly states: GuildStates;
  readonly isOwner: (userId: string) => boolean;
  readonly clock: Clock;
  /** Whether Discord tells of every change of a member. */
  readonly membersAreLive: () => boolean;
  readonly inDirectMessage: (actor: Actor) => Promise<Found>;
}

/** Looks up where somebody stands in a place in which they are not: they, and the bot, must be able to see it. */
export function createElsewhere({ client, states, isOwner, clock, membersAreLive, inDirectMessage }: Parts) {
  const channelIn = async (guild: Guild, channelId: string): Promise<GuildBasedChannel | undefined> => {
    const channel = client.channels.cache.get(channelId) ?? (await unlessUnknown(client.channels.fetch(channelId)));
    const isThere = channel !== undefined && channel !== null && !channel.isDMBased() && channel.guildId === guild.id;
    return isThere ? channel : undefined;
  };

  return async ({ userId, guildId, channelId }: Vantage, fresh: boolean): Promise<Found> => {
    if (guildId === null) return inDirectMessage({ userId, guildId, channelId: channelId ?? '' });
    const guild = client.guilds.cache.get(guildId);
    if (guild === undefined) return absent('I am not in that server');
    const state = states.peek(guildId) ?? (await states.load(guildId));
    const force = fresh && !membersAreLive();
    const member = await unlessUnknown(guild.members.fetch({ user: userId, force }));
    if (member === undefined || member.user.bot) return absent('you are not in that server');
    const me = guild.members.me ?? (await guild.members.fetchMe());
    const stand = (channel: GuildBasedChannel | undefined) =>
      new GuildStanding({ guild, state, channel, member, me, isBotOwner: isOwner(member.id) }, clock);
    if (channelId === undefined) return stand(undefined);
    const channel = await channelIn(guild, channelId);
    if (channel === undefined) return absent('that channel is not in that server');
    if (!(await mayEnter(channel, member, force))) return absent('you cannot see that channel');
    return permissionsIn(channel, me).has('ViewChannel') ? stand(channel) : absent('I cannot see that channel');
  };
}
