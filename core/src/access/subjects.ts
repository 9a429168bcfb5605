import { type Actor, type Clock, maxEntries, NO_CHANNEL, t, unlessUnreachable } from '@cinnabar/sdk';
import {
  type Channel,
  ChannelType,
  type Client,
  Events,
  GatewayIntentBits,
  type Guild,
  type GuildBasedChannel,
  type GuildMember,
  type PermissionsBitField,
  type PermissionsString,
  type PrivateThreadChannel,
} from 'discord.js';
import { LRUCache } from 'lru-cache';
import type { GuildState, OwnerChoices } from '../contracts.js';
import type { ResolvedPlace } from '../identities/identities.js';
import type { AccessDependencies } from './access.js';
import type { RuleLevels, RulePosition } from './rules.js';
import {
  IN_DIRECT_MESSAGES,
  isPrivateThread,
  mayEnter,
  missingPermissions,
  NO_PERMISSIONS,
  permissionsIn,
  whileTimedOut,
} from './visibility.js';

/** A private thread: permissions alone do not determine who can see it. */
const isForFew = (channel: Channel) => !channel.isDMBased() && isPrivateThread(channel);

/** Resolves the subject of a decision, synchronously when everything is in memory. @see Knowledge */
export function createSubjects(
  { client, states, ownerState, clock }: Pick<AccessDependencies, 'client' | 'states' | 'ownerState' | 'clock'>,
  isOwner: (userId: string) => boolean,
  memberships: Memberships,
) {
  const subjectIn = (
    { guild, state, member, me }: Omit<Position, 'channel' | 'owner' | 'isBotOwner'>,
    channel: Channel,
    knowledge: Knowledge,
  ): Found => {
    if (channel.isDMBased() || channel.guildId !== guild.id) return absent(t('that channel is not in this server'));
    if (member.user.bot) return ofBot();
    // A decision that is not `fresh` follows a message or click of the member in the channel, so the member can see it.
    if (knowledge === 'fresh' && !permissionsIn(channel, member).has('ViewChannel')) return hidden();
    // Properties are listed one by one: a spread would cost more than the rest of the decision.
    const owner = ownerState.peek();
    return new GuildSubject({ guild, state, owner, channel, member, me, isBotOwner: isOwner(member.id) }, clock);
  };

  const channelOf = async (id: string): Promise<Channel | undefined> =>
    client.channels.cache.get(id) ?? (await unlessUnreachable(client.channels.fetch(id))) ?? undefined;

  const lookUp = async (
    guild: Guild,
    actor: Actor,
    known: GuildMember | undefined,
    knowledge: Knowledge,
  ): Promise<Found> => {
    const { channelId, userId } = actor;
    const state = states.peek(guild.id) ?? (await states.load(guild.id));
    const channel = await channelOf(channelId);
    if (channel === undefined) return absent(t('that channel no longer exists'));
    const member = known ?? (await memberships.member(guild, userId, knowledge));
    if (member === undefined) return absent(t('you are no longer in this server'));
    const me = guild.members.me ?? (await guild.members.fetchMe());
    if (knowledge === 'fresh' && isForFew(channel) && !(await mayEnter(channel, member, memberships))) return hidden();
    return subjectIn({ guild, state, member, me }, channel, knowledge);
  };

  const inGuild = (actor: Actor, guildId: string, knowledge: Knowledge): Found | Promise<Found> => {
    const guild = client.guilds.cache.get(guildId);
    if (guild === undefined) return absent(t('I am no longer in that server'));
    const isFresh = knowledge === 'fresh';
    const cached = isFresh && !memberships.live() ? undefined : guild.members.cache.get(actor.userId);
    const member = cached?.partial ? undefined : cached;
    const state = states.peek(guildId);
    const channel = client.channels.cache.get(actor.channelId);
    const { me } = guild.members;
    // Usually all of it is in memory: then a command does not cost a promise for each part.
    const isKnown = member !== undefined && state !== undefined && channel !== undefined && me !== null;
    if (!isKnown || (isFresh && isForFew(channel))) {
      return lookUp(guild, actor, member, knowledge);
    }
    return subjectIn({ guild, state, member, me }, channel, knowledge);
  };

  const inDirectMessage = async (actor: Actor): Promise<Found> => {
    if (actor.channelId !== NO_CHANNEL) {
      const channel = await unlessUnreachable(client.channels.fetch(actor.channelId));
      if (channel === undefined || channel === null) return absent(t('that conversation no longer exists'));
      // A guild's channel that is presented as a direct message would evade the guild's rules.
      if (!channel.isDMBased()) return absent(t('that channel is not a direct message'));
    }
    const user = await unlessUnreachable(client.users.fetch(actor.userId));
    if (user === undefined) return absent(t('that account no longer exists'));
    if (user.bot) return ofBot();
    return {
      place: 'dm',
      isBotOwner: isOwner(actor.userId),
      isGuildOwner: false,
      userId: actor.userId,
      channelIds: [],
      categoryId: undefined,
      guildId: undefined,
      accessRules: { owner: ownerState.peek().accessRules, guild: [] },
      guildPermissions: NO_PERMISSIONS,
      hasRole: () => false,
      adminRoles: [],
      modRoles: [],
      memberPermissions: IN_DIRECT_MESSAGES,
      botPermissions: IN_DIRECT_MESSAGES,
      inThread: false,
    };
  };

  /** Looks up a member of a guild and, where one is named, a channel of it that both the member and the bot can see. */
  const enter = async (
    { userId, guildId, channelId }: Omit<ResolvedPlace, 'elsewhere'>,
    knowledge: Knowledge,
  ): Promise<Omit<Position, 'state' | 'owner' | 'isBotOwner'> | Absence> => {
    const guild = guildId === null ? undefined : client.guilds.cache.get(guildId);
    if (guild === undefined) return absent(t('I am not in that server'));
    // Not from the cache of discord.js, where a member may be months old.
    const member = await memberships.member(guild, userId, knowledge);
    if (member === undefined) return notInServer();
    const me = guild.members.me ?? (await guild.members.fetchMe());
    if (channelId === undefined) return { guild, member, me, channel: undefined };
    const channel = await channelOf(channelId);
    if (channel === undefined || channel.isDMBased() || channel.guildId !== guild.id) {
      return absent(t('that channel is not in that server'));
    }
    if (!(await mayEnter(channel, member, memberships))) return absent(t('you cannot see that channel'));
    if (!permissionsIn(channel, me).has('ViewChannel')) return absent(t('I cannot see that channel'));
    return { guild, member, me, channel };
  };

  /** A user in another place, which the user and the bot must be able to see. */
  const elsewhere = async (place: Omit<ResolvedPlace, 'elsewhere'>, knowledge: Knowledge): Promise<Found> => {
    const { userId, guildId, channelId } = place;
    if (guildId === null) return inDirectMessage({ userId, guildId, channelId: channelId ?? '' });
    const entry = await enter(place, knowledge);
    if ('because' in entry) return entry;
    if (entry.member.user.bot) return notInServer();
    const state = states.peek(guildId) ?? (await states.load(guildId));
    return new GuildSubject({ ...entry, state, owner: ownerState.peek(), isBotOwner: isOwner(userId) }, clock);
  };

  return {
    /** The place in which rules are evaluated for an actor who has just acted, also for a bot or webhook. Asks Discord only for roles that a rule names. */
    positionOf({ userId, guildId, channelId }: Actor, rules: RuleLevels): RulePosition | Promise<RulePosition> {
      const channel = client.channels.cache.get(channelId);
      const guild = guildId === null ? undefined : client.guilds.cache.get(guildId);
      const at = (member: GuildMember | undefined): RulePosition => ({
        userId,
        hasRole: (id) => member?.roles.cache.has(id) === true,
        channelIds: channelIdsOf(channel, channelId),
        categoryId: categoryIdOf(channel),
        guildId: guildId ?? undefined,
      });
      const known = guild?.members.cache.get(userId);
      const namesRoles = () => [...rules.owner, ...rules.guild].some(({ subject }) => subject.kind === 'role');
      if (guild === undefined || (known !== undefined && !known.partial) || !namesRoles()) return at(known);
      return memberships.member(guild, userId).then(at);
    },
    /** The actor in their present channel, or in the guild as a whole when there is no channel. */
    here(actor: Actor, knowledge: Knowledge): Found | Promise<Found> {
      const { userId, guildId, channelId } = actor;
      if (guildId === null) return inDirectMessage(actor);
      if (channelId === NO_CHANNEL) return elsewhere({ userId, guildId, channelId: undefined }, knowledge);
      return inGuild(actor, guildId, knowledge);
    },
    elsewhere,
    /** Whether a user can see the place now and has these permissions there. Only the recipient can see a direct message. */
    async mayEnter(place: ResolvedPlace, permissions: readonly PermissionsString[]): Promise<boolean> {
      const { userId, guildId, channelId } = place;
      if (guildId === null) {
        const channel = channelId === undefined ? undefined : await channelOf(channelId);
        return channel?.type === ChannelType.DM && channel.recipientId === userId;
      }
      const entry = await enter(place, 'recent');
      if ('because' in entry) return false;
      const { channel, member } = entry;
      const held = activePermissions(member, permissionsAt(channel, member), clock);
      return missingPermissions(held, permissions, channel?.isThread() === true).length === 0;
    },
  };
}

/** A member and the bot in a place: what a subject in a guild is derived from. */
interface Position {
  readonly guild: Guild;
  readonly state: GuildState;
  readonly owner: OwnerChoices;
  /** `undefined`: the guild as a whole. */
  readonly channel: GuildBasedChannel | undefined;
  readonly member: GuildMember;
  readonly me: GuildMember;
  readonly isBotOwner: boolean;
}

/**
 * A member in a channel. Permissions are computed at their first use, since the cost grows with the number of the guild's roles. A class, because every command
 * makes one, and getters of an object literal are defined anew for each object.
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

  get userId(): string {
    return this.#position.member.id;
  }

  get channelIds(): readonly string[] {
    const { channel } = this.#position;
    return channel === undefined ? [] : channelIdsOf(channel, channel.id);
  }

  get categoryId(): string | undefined {
    return categoryIdOf(this.#position.channel);
  }

  get guildId(): string {
    return this.#position.guild.id;
  }

  get accessRules(): RuleLevels {
    const { owner, state } = this.#position;
    return { owner: owner.accessRules, guild: state.accessRules };
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
    return activePermissions(member, permissions, this.#clock);
  }
}

/** The permissions that a member keeps during a time-out. */
function activePermissions(member: GuildMember, permissions: Permissions, clock: Pick<Clock, 'now'>): Permissions {
  const timedOut = (member.communicationDisabledUntilTimestamp ?? 0) > clock.now();
  return timedOut ? whileTimedOut(permissions) : permissions;
}

/** A thread also belongs to its channel. */
function channelIdsOf(channel: Channel | undefined, channelId: string): readonly string[] {
  if (channel?.isThread() !== true || channel.parentId === null) return [channelId];
  return [channelId, channel.parentId];
}

function categoryIdOf(channel: Channel | undefined): string | undefined {
  if (channel === undefined || channel.isDMBased()) return undefined;
  return (channel.isThread() ? channel.parent?.parentId : channel.parentId) ?? undefined;
}

function permissionsAt(channel: GuildBasedChannel | undefined, member: GuildMember): Permissions {
  return channel === undefined ? member.permissions : permissionsIn(channel, member);
}

export type Permissions = Readonly<PermissionsBitField>;

/** The facts about an actor and the bot in one place at one moment that the checks use. */
export interface Subject extends RulePosition {
  readonly place: 'guild' | 'dm';
  readonly isBotOwner: boolean;
  readonly isGuildOwner: boolean;
  /** Guild-wide, without channel overwrites; empty in a direct message. */
  readonly guildPermissions: Permissions;
  /** In a direct message, those of a guild are empty. */
  readonly accessRules: RuleLevels;
  readonly adminRoles: readonly string[];
  readonly modRoles: readonly string[];
  /** In the channel, overwrites applied; for a thread those of its parent. */
  readonly memberPermissions: Permissions;
  readonly botPermissions: Permissions;
  readonly inThread: boolean;
}

/** Why there is no subject: a bot, a member who left, a guild or channel that is gone. `because` is a clause for people. */
export interface Absence {
  readonly because: string;
}

const absent = (because: string): Absence => ({ because });

const hidden = () => absent(t('you can no longer see this channel'));
const ofBot = () => absent(t('bots cannot use this'));
const notInServer = () => absent(t('you are not in that server'));

type Found = Subject | Absence;

/**
 * How old an answer of Discord may be where no event announces changes. `fresh`: requested now, for the moment before something irrevocable; `recent`: at most
 * 5 s, as long as one call takes; `listed`: at most a minute, for lists of names.
 */
export type Knowledge = 'fresh' | 'recent' | 'listed';
const OLDEST_MS: Readonly<Record<Exclude<Knowledge, 'fresh'>, number>> = { recent: 5_000, listed: 60_000 };
const MOST_REMEMBERED = 5_000;

interface Remembered<T> {
  readonly answer: Promise<T>;
  /** When the answer was requested from Discord. */
  readonly at: number;
}

export type Memberships = ReturnType<typeof createMemberships>;

/**
 * Reads the members of guilds with their roles, and those of private threads, for all of the host. With the intent GuildMembers, gateway events keep the caches
 * of discord.js current. Without it a cached member is as old as their last message, so members are requested from Discord, and an answer is reused for as long
 * as `Knowledge` allows.
 */
export function createMemberships(client: Client, clock: Clock) {
  const members = new LRUCache<string, Remembered<GuildMember | undefined>>(maxEntries(MOST_REMEMBERED));
  const threads = new LRUCache<string, Remembered<boolean>>(maxEntries(MOST_REMEMBERED));
  const live = () => client.options.intents.has(GatewayIntentBits.GuildMembers);

  const keyOf = (placeId: string, userId: string) => `${placeId}/${userId}`;

  const forget = (userId: string) => {
    for (const known of [members, threads]) {
      for (const key of known.keys()) if (key.endsWith(`/${userId}`)) known.delete(key);
    }
  };
  const forgetPlace = (placeId: string) => {
    for (const known of [members, threads]) {
      for (const key of known.keys()) if (key.startsWith(`${placeId}/`)) known.delete(key);
    }
  };
  client.on(Events.GuildMemberUpdate, (_before, { id }) => forget(id));
  client.on(Events.GuildMemberRemove, ({ id }) => forget(id));
  client.on(Events.GuildBanAdd, ({ user }) => forget(user.id));
  client.on(Events.GuildDelete, ({ id }) => forgetPlace(id));
  client.on(Events.ThreadMembersUpdate, (_added, _removed, { id }) => forgetPlace(id));
  client.on(Events.ThreadDelete, ({ id }) => forgetPlace(id));

  /** Concurrent callers share one request; a failed one is repeated at the next call. */
  const shared = <T>(
    known: LRUCache<string, Remembered<T>>,
    key: string,
    knowledge: Knowledge,
    ask: () => Promise<T>,
  ): Promise<T> => {
    const before = known.get(key);
    if (before !== undefined && knowledge !== 'fresh' && clock.now() - before.at <= OLDEST_MS[knowledge])
      return before.answer;
    const now = { answer: ask(), at: clock.now() };
    known.set(key, now);
    now.answer.catch(() => {
      if (known.get(key) === now) known.delete(key);
    });
    return now.answer;
  };

  return {
    /** Whether Discord sends an event for every change of members and of threads' members. */
    live,
    /** Drops the cached data of one user, so that the next decision requests them from Discord. */
    forget,
    /** `undefined` for a user who is not in the guild. */
    async member(guild: Guild, userId: string, knowledge: Knowledge = 'recent'): Promise<GuildMember | undefined> {
      if (live()) return unlessUnreachable(guild.members.fetch(userId));
      return shared(members, keyOf(guild.id, userId), knowledge, async () => {
        const member = await unlessUnreachable(guild.members.fetch({ user: userId, force: true }));
        // No event removes a member who has left from this cache without the intent.
        if (member === undefined) guild.members.cache.delete(userId);
        return member;
      });
    },
    async isInThread(thread: PrivateThreadChannel, userId: string): Promise<boolean> {
      if (live()) return isIn(thread, userId, false);
      return shared(threads, keyOf(thread.id, userId), 'recent', () => isIn(thread, userId, true));
    },
  };
}

async function isIn(thread: PrivateThreadChannel, userId: string, force: boolean): Promise<boolean> {
  return (await unlessUnreachable(thread.members.fetch({ member: userId, force }))) !== undefined;
}
