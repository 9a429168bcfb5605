import type { Actor, Clock } from '@cinnabar/sdk';
import {
  type Client,
  DiscordAPIError,
  GatewayIntentBits,
  type Guild,
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

type Place = Omit<Standing, 'pluginEnabled'>;

const absent = (because: string): Absence => ({ because });

/** Looks up where an actor stands. `fresh` asks Discord again wherever the cache may lag behind. */
export function createStandings({ client, states, isOwner, clock }: Parts) {
  const live = (member: GuildMember) =>
    (member.communicationDisabledUntilTimestamp ?? 0) > clock.now() ? whileTimedOut : asTheyAre;

  // Discord sends changes of members only with this intent; without it a cached member is as old as their last message.
  const membersAreLive = () => client.options.intents.has(GatewayIntentBits.GuildMembers);

  const memberOf = (guild: Guild, userId: string, fresh: boolean) =>
    unlessUnknown(guild.members.fetch({ user: userId, force: fresh && !membersAreLive() }));

  const inGuild = async (actor: Actor, guildId: string, fresh: boolean): Promise<Place | Absence> => {
    const guild = client.guilds.cache.get(guildId);
    if (guild === undefined) return absent('I am no longer in that server');
    const state = await states.load(guildId);
    const channel = await unlessUnknown(client.channels.fetch(actor.channelId));
    if (channel === undefined || channel === null) return absent('that channel no longer exists');
    if (channel.isDMBased() || channel.guildId !== guildId) return absent('that channel is not in this server');
    const member = await memberOf(guild, actor.userId, fresh);
    if (member === undefined) return absent('you are no longer in this server');
    if (member.user.bot) return absent('bots cannot use this');
    const me = guild.members.me ?? (await guild.members.fetchMe());
    const memberPermissions = channel.permissionsFor(member);
    const botPermissions = channel.permissionsFor(me);
    if (memberPermissions === null || botPermissions === null) return absent('that channel no longer exists');
    if (!memberPermissions.has('ViewChannel')) return absent('you can no longer see this channel');
    return {
      place: 'guild',
      isBotOwner: isOwner(actor.userId),
      isGuildOwner: guild.ownerId === actor.userId,
      guildPermissions: live(member)(member.permissions),
      roles: new Set(member.roles.cache.keys()),
      adminRoles: state.adminRoles,
      modRoles: state.modRoles,
      memberPermissions: live(member)(memberPermissions),
      botPermissions: live(me)(botPermissions),
      inThread: channel.isThread(),
    };
  };

  const inDirectMessage = async (actor: Actor): Promise<Place | Absence> => {
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
      roles: new Set(),
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
