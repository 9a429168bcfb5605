import { type Actor, type Clock, unlessUnreachable } from '@cinnabar/sdk';
import {
  type Channel,
  ChannelType,
  type Client,
  type Guild,
  type GuildBasedChannel,
  type GuildMember,
  type PermissionsBitField,
  type PermissionsString,
} from 'discord.js';
import type { GuildState, GuildStates } from '../contracts.js';
import type { Memberships } from './memberships.js';
import { IN_DIRECT_MESSAGES, NO_PERMISSIONS, whileTimedOut } from './policy.js';
import type { ResolvedPlace } from './resolved-place.js';
import { isPrivateThread, mayEnter, permissionsIn } from './visibility.js';

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
export function createSubjects({ client, states, isOwner, clock, memberships }: Parts) {
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
    return new GuildSubject({ guild, state, channel, member, me, isBotOwner: isOwner(member.id) }, clock);
  };

  const lookUp = async (guild: Guild, actor: Actor, known: GuildMember | undefined, fresh: boolean): Promise<Found> => {
    const { channelId, userId } = actor;
    const state = states.peek(guild.id) ?? (await states.load(guild.id));
    const channel = client.channels.cache.get(channelId) ?? (await unlessUnreachable(client.channels.fetch(channelId)));
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
    const channel = await unlessUnreachable(client.channels.fetch(actor.channelId));
    if (channel === undefined || channel === null) return absent('that conversation no longer exists');
    // A guild's channel passed off as a direct message would get round the guild's rules.
    if (!channel.isDMBased()) return absent('that channel is not a direct message');
    const user = await unlessUnreachable(client.users.fetch(actor.userId));
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

  const elsewhere = createRemoteSubjects({ client, states, isOwner, clock, memberships, inDirectMessage });

  return {
    /** Where the actor is. */
    here: (actor: Actor, fresh: boolean): Found | Promise<Found> =>
      actor.guildId === null ? inDirectMessage(actor) : inGuild(actor, actor.guildId, fresh),
    elsewhere: elsewhere.find,
    mayEnter: elsewhere.mayEnter,
  };
}

interface ElsewhereParts {
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
function createRemoteSubjects({ client, states, isOwner, clock, memberships, inDirectMessage }: ElsewhereParts) {
  const channelIn = async (guild: Guild, channelId: string): Promise<GuildBasedChannel | undefined> => {
    const channel = client.channels.cache.get(channelId) ?? (await unlessUnreachable(client.channels.fetch(channelId)));
    const isThere = channel !== undefined && channel !== null && !channel.isDMBased() && channel.guildId === guild.id;
    return isThere ? channel : undefined;
  };

  const enter = async ({ userId, guildId, channelId }: ResolvedPlace, fresh: boolean): Promise<Entry | Absence> => {
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
    async mayEnter(place: ResolvedPlace, permissions: readonly PermissionsString[]): Promise<boolean> {
      const { userId, guildId, channelId } = place;
      if (guildId === null) {
        if (channelId === undefined) return false;
        const channel =
          client.channels.cache.get(channelId) ?? (await unlessUnreachable(client.channels.fetch(channelId)));
        return channel?.type === ChannelType.DM && channel.recipientId === userId;
      }
      const entry = await enter(place, false);
      if ('because' in entry) return false;
      const { channel, member } = entry;
      const held = channel === undefined ? member.permissions : permissionsIn(channel, member);
      return permissions.every((permission) => held.has(permission));
    },
    async find(place: ResolvedPlace, fresh: boolean): Promise<Found> {
      const { userId, guildId, channelId } = place;
      if (guildId === null) return inDirectMessage({ userId, guildId, channelId: channelId ?? '' });
      const state = states.peek(guildId) ?? (await states.load(guildId));
      const entry = await enter(place, fresh);
      if ('because' in entry) return entry;
      if (entry.member.user.bot) return absent('you are not in that server');
      return new GuildSubject({ ...entry, state, isBotOwner: isOwner(userId) }, clock);
    },
  };
}

/** Who is where: what a subject in a guild is derived from. */
interface Position {
  readonly guild: Guild;
  readonly state: GuildState;
  /** `undefined`: the guild as a whole. */
  readonly channel: GuildBasedChannel | undefined;
  readonly member: GuildMember;
  readonly me: GuildMember;
  readonly isBotOwner: boolean;
}

/**
 * A member in a channel. Permissions are worked out when a check asks for them: that costs the more, the more roles a guild has.
 * A class, because every command makes one, and getters of an object literal are defined anew for each object.
 */
class GuildSubject implements Subject {
  readonly place = 'guild';
  readonly #position: Position;
  readonly #clock: Clock;

  constructor(position: Position, clock: Clock) {
    this.#position = position;
    this.#clock = clock;
  }

  get isBotOwner(): boolean {
    return this.#position.isBotOwner;
  }

  get isGuildOwner(): boolean {
    return this.#position.guild.ownerId === this.#position.member.id;
  }

  get guildPermissions(): Permissions {
    const { member } = this.#position;
    return this.#asFarAsActive(member, member.permissions);
  }

  get adminRoles(): readonly string[] {
    return this.#position.state.adminRoles;
  }

  get modRoles(): readonly string[] {
    return this.#position.state.modRoles;
  }

  get memberPermissions(): Permissions {
    const { channel, member } = this.#position;
    return this.#asFarAsActive(member, permissionsAt(channel, member));
  }

  get botPermissions(): Permissions {
    const { channel, me } = this.#position;
    return this.#asFarAsActive(me, permissionsAt(channel, me));
  }

  get inThread(): boolean {
    return this.#position.channel?.isThread() === true;
  }

  hasRole(id: string): boolean {
    return this.#position.member.roles.cache.has(id);
  }

  #asFarAsActive(member: GuildMember, permissions: Permissions): Permissions {
    const timedOut = (member.communicationDisabledUntilTimestamp ?? 0) > this.#clock.now();
    return timedOut ? whileTimedOut(permissions) : permissions;
  }
}

function permissionsAt(channel: GuildBasedChannel | undefined, member: GuildMember): Permissions {
  return channel === undefined ? member.permissions : permissionsIn(channel, member);
}

export type Permissions = Readonly<PermissionsBitField>;

/** What is true of an actor and of the bot in one place at one moment: all that the checks look at. */
export interface Subject {
  readonly place: 'guild' | 'dm';
  readonly isBotOwner: boolean;
  readonly isGuildOwner: boolean;
  /** Guild-wide, without channel overwrites; empty in a direct message. */
  readonly guildPermissions: Permissions;
  hasRole(id: string): boolean;
  readonly adminRoles: readonly string[];
  readonly modRoles: readonly string[];
  /** In the channel, overwrites applied; for a thread those of its parent. */
  readonly memberPermissions: Permissions;
  readonly botPermissions: Permissions;
  readonly inThread: boolean;
}

/** Nobody to decide about: a bot, someone who left, a guild or channel that is gone. `because` is a clause for people. */
export interface Absence {
  readonly because: string;
}

const absent = (because: string): Absence => ({ because });

type Found = Subject | Absence;
