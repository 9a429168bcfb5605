import type { Actor, Clock } from '@cinnabar/sdk';
import type { Channel, Client, Guild, GuildMember } from 'discord.js';
import type { GuildStates } from '../contracts.js';
import { createElsewhere } from './elsewhere.js';
import { GuildStanding, type Position, permissionsIn } from './guild-standing.js';
import { isPrivateThread, mayEnter } from './may-enter.js';
import type { Memberships } from './memberships.js';
import { IN_DIRECT_MESSAGES, NO_PERMISSIONS } from './permissions.js';
import { absent, type Found } from './standing.js';
import { unlessUnknown } from './unless-unknown.js';

interface Parts {
  readonly client: Client;
  readonly states: GuildStates;
  readonly isOwner: (userId: string) => boolean;
  readonly clock: Clock;
  readonly memberships: Memberships;
}

const HIDDEN = 'you can no longer see this channel';

/** Who is in it does not follow from permissions. */
const isForFew = (channel: Channel) => !channel.isDMBased() && isPrivateThread(channel);

/** Looks up where an actor stands: at once where everything is in memory. `fresh` asks Discord again wherever the cache may lag behind. */
export function createStandings({ client, states, isOwner, clock, memberships }: Parts) {
  const standIn = (
    { guild, state, member, me }: Omit<Position, 'channel' | 'isBotOwner'>,
    channel: Channel,
    fresh: boolean,
  ): Found => {
    if (channel.isDMBased() || channel.guildId !== guild.id) return absent('that channel is not in this server');
    if (member.user.bot) return absent('bots cannot use this');
    // In a cached decision they have just said or pressed something there.
    if (fresh && !permissionsIn(channel, member).has('ViewChannel')) return absent(HIDDEN);
    // Named one by one: with a spread, making this would cost more than the rest of the decision.
    return new GuildStanding({ guild, state, channel, member, me, isBotOwner: isOwner(member.id) }, clock);
  };

  const lookUp = async (guild: Guild, actor: Actor, known: GuildMember | undefined, fresh: boolean): Promise<Found> => {
    const { channelId, userId } = actor;
    const state = states.peek(guild.id) ?? (await states.load(guild.id));
    const channel = client.channels.cache.get(channelId) ?? (await unlessUnknown(client.channels.fetch(channelId)));
    if (channel === undefined || channel === null) return absent('that channel no longer exists');
    const member = known ?? (await memberships.member(guild, userId, fresh));
    if (member === undefined) return absent('you are no longer in this server');
    const me = guild.members.me ?? (await guild.members.fetchMe());
    if (fresh && isForFew(channel) && !(await mayEnter(channel, member, memberships))) return absent(HIDDEN);
    return standIn({ guild, state, member, me }, channel, fresh);
  };

  const inGuild = (actor: Actor, guildId: string, fresh: boolean): Found | Promise<Found> => {
    const guild = client.guilds.cache.get(guildId);
    if (guild === undefined) return absent('I am no longer in that server');
    const cached = fresh && !memberships.live() ? undefined : guild.members.cache.get(actor.userId);
    const member = cached?.partial ? undefined : cached;
    const state = states.peek(guildId);
    const channel = client.channels.cache.get(actor.channelId);
    const { me } = guild.members;
    // As a rule all of it is known: then a command does not cost a promise for each part.
    const isKnown = member !== undefined && state !== undefined && channel !== undefined && me !== null;
    if (!isKnown || (fresh && isForFew(channel))) {
      return lookUp(guild, actor, member, fresh);
    }
    return standIn({ guild, state, member, me }, channel, fresh);
  };

  const inDirectMessage = async (actor: Actor): Promise<Found> => {
    const channel = await unlessUnknown(client.channels.fetch(actor.channelId));
    if (channel === undefined || channel === null) return absent('that conversation no longer exists');
    // A guild's channel passed off as a direct message would get round the guild's rules.
    if (!channel.isDMBased()) return absent('that channel is not a direct message');
    const user = await unlessUnknown(client.users.fetch(actor.userId));
    if (user === undefined) return absent('that account no longer exists');
    if (user.bot) return absent('bots cannot use this');
    return {
      place: 'dm',
      isBotOwner: isOwner(actor.userId),
      isGuildOwner: false,
      guildPermissions: NO_PERMISSIONS,
      hasRole: () => false,
      adminRoles: [],
      modRoles: [],
      memberPermissions: IN_DIRECT_MESSAGES,
      botPermissions: IN_DIRECT_MESSAGES,
      inThread: false,
    };
  };

  const elsewhere = createElsewhere({ client, states, isOwner, clock, memberships, inDirectMessage });

  return {
    /** Where the actor is. */
    here: (actor: Actor, fresh: boolean): Found | Promise<Found> =>
      actor.guildId === null ? inDirectMessage(actor) : inGuild(actor, actor.guildId, fresh),
    elsewhere: elsewhere.standing,
    mayEnter: elsewhere.mayEnter,
  };
}
