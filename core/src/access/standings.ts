import type { Actor, Clock } from '@cinnabar/sdk';
import {
  type Client,
  DiscordAPIError,
  GatewayIntentBits,
  type Guild,
  type GuildBasedChannel,
  type GuildMember,
  RESTJSONErrorCodes,
} from 'discord.js';
import type { GuildStates } from '../contracts.js';
import { IN_DIRECT_MESSAGES, NO_PERMISSIONS, whileTimedOut } from './permissions.js';
import type { Absence, Standing } from './standing.js';

interface Parts {
  readonly client: Client;
  readonly states: GuildStates;
  readonly isOwner: (userId: string) => boolean;
  readonly clock: Clock;
}

const absent = (because: string): Absence => ({ because });

/** Looks up where an actor stands. `fresh` asks Discord again wherever the cache may lag behind. */
export function createStandings({ client, states, isOwner, clock }: Parts) {
  const live = (member: GuildMember) =>
    (member.communicationDisabledUntilTimestamp ?? 0) > clock.now() ? whileTimedOut : asTheyAre;

  // Discord sends changes of members only with this intent; without it a cached member is as old as their last message.
  const membersAreLive = () => client.options.intents.has(GatewayIntentBits.GuildMembers);

  // The cache is looked at first by hand: a command must not cost a promise for each thing that is known.
  const memberOf = (guild: Guild, userId: string, fresh: boolean) => {
    const force = fresh && !membersAreLive();
    const known = force ? undefined : guild.members.cache.get(userId);
    return known === undefined || known.partial ? unlessUnknown(guild.members.fetch({ user: userId, force })) : known;
  };

  const inGuild = async (actor: Actor, guildId: string, fresh: boolean): Promise<Standing | Absence> => {
    const guild = client.guilds.cache.get(guildId);
    if (guild === undefined) return absent('I am no longer in that server');
    const state = states.peek(guildId) ?? (await states.load(guildId));
    const { channelId } = actor;
    const channel = client.channels.cache.get(channelId) ?? (await unlessUnknown(client.channels.fetch(channelId)));
    if (channel === undefined || channel === null) return absent('that channel no longer exists');
    if (channel.isDMBased() || channel.guildId !== guildId) return absent('that channel is not in this server');
    const found = memberOf(guild, actor.userId, fresh);
    const member = found instanceof Promise ? await found : found;
    if (member === undefined) return absent('you are no longer in this server');
    if (member.user.bot) return absent('bots cannot use this');
    const me = guild.members.me ?? (await guild.members.fetchMe());
    // In a cached decision they have just said or pressed something there. Working permissions out costs the more, the more roles a guild has.
    if (fresh && !inChannel(channel, member).has('ViewChannel')) return absent('you can no longer see this channel');
    return {
      place: 'guild',
      isBotOwner: isOwner(actor.userId),
      isGuildOwner: guild.ownerId === actor.userId,
      get guildPermissions() {
        return live(member)(member.permissions);
      },
      hasRole: (id) => member.roles.cache.has(id),
      adminRoles: state.adminRoles,
      modRoles: state.modRoles,
      get memberPermissions() {
        return live(member)(inChannel(channel, member));
      },
      get botPermissions() {
        return live(me)(inChannel(channel, me));
      },
      inThread: channel.isThread(),
    };
  };

  const inDirectMessage = async (actor: Actor): Promise<Standing | Absence> => {
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

  return (actor: Actor, fresh: boolean) =>
    actor.guildId === null ? inDirectMessage(actor) : inGuild(actor, actor.guildId, fresh);
}

/** A thread whose parent is gone grants nothing. */
const inChannel = (channel: GuildBasedChannel, member: GuildMember) => channel.permissionsFor(member) ?? NO_PERMISSIONS;

const asTheyAre = <T>(permissions: T) => permissions;

const GONE: ReadonlySet<number | string> = new Set([
  RESTJSONErrorCodes.UnknownMember,
  RESTJSONErrorCodes.UnknownUser,
  RESTJSONErrorCodes.UnknownChannel,
  RESTJSONErrorCodes.UnknownGuild,
  RESTJSONErrorCodes.MissingAccess,
]);

/** `undefined` where Discord says that there is no such thing; any other failure stays one. */
async function unlessUnknown<T>(looked: Promise<T>): Promise<T | undefined> {
  try {
    return await looked;
  } catch (error) {
    if (error instanceof DiscordAPIError && GONE.has(error.code)) return undefined;
    throw error;
  }
}
