import { GatewayIntentBits, GatewayIntentBits as I, PermissionFlagsBits } from 'discord-api-types/v10';
import { guildCreatePayload } from '../payload/guilds.js';
import { emojiPayload } from '../payload/users.js';
import type { PermissionName } from '../rules/permission-names.js';
import { canView, guildPermissions } from '../rules/permissions.js';
import type { LocalApplication } from '../state/applications.js';
import type { LocalChannel } from '../state/channels.js';
import type { LocalGuild } from '../state/guilds.js';
import type { World } from '../world.js';
import type { Dispatches, DispatchName, GatewaySession } from './session.js';

/** The target of an event, which determines the sessions that receive it. */
export type EventScope =
  | { guild: LocalGuild; permission?: PermissionName }
  | { channel: LocalChannel }
  | { application: LocalApplication; guild?: LocalGuild };

/** The sessions that receive an event: of a bot in the target, with the shard and the intents for it, and with access to the channel. */
export function receivingSessions(world: World, event: DispatchName, scope: EventScope): GatewaySession[] {
  const receiving: GatewaySession[] = [];
  for (const session of world.sessions) if (receives(world, session, event, scope)) receiving.push(session);
  return receiving;
}

function receives(world: World, session: GatewaySession, event: DispatchName, scope: EventScope): boolean {
  const guild = 'channel' in scope ? scope.channel.guild : scope.guild;
  if (!ownsShard(session, guild) || !intentsAdmit(session.intents, event, guild !== undefined)) return false;
  if ('application' in scope) return session.application === scope.application;
  const { user } = session.application;
  if ('channel' in scope) return canView(scope.channel, user, world.clock.now());
  const member = scope.guild.members.get(user.id);
  if (!member || scope.permission === undefined) return member !== undefined;
  return (guildPermissions(member, world.clock.now()) & PermissionFlagsBits[scope.permission]) !== 0n;
}

/** `(guild_id >> 22) % count`; events without a guild go to shard 0. */
export function ownsShard(session: GatewaySession, guild: LocalGuild | undefined): boolean {
  const [index, count] = session.shard;
  if (count === 1) return true;
  if (!guild) return index === 0;
  return Number((BigInt(guild.id) >> 22n) % BigInt(count)) === index;
}

/** Sends one payload to all sessions that receive it. */
export function broadcast<T extends DispatchName>(
  world: World,
  event: T,
  scope: EventScope,
  payload: Dispatches[T],
): void {
  let json: string | undefined;
  for (const session of receivingSessions(world, event, scope)) {
    json ??= JSON.stringify(payload);
    session.dispatch(event, json);
  }
}

/** Sends each bot a separate payload: for payloads with `me`, or that depend on the viewer. */
export function broadcastEach<T extends DispatchName>(
  world: World,
  event: T,
  scope: EventScope,
  payloadFor: (application: LocalApplication) => Dispatches[T],
): void {
  for (const session of receivingSessions(world, event, scope)) {
    session.dispatch(event, JSON.stringify(payloadFor(session.application)));
  }
}

/** The intent that an event needs, in a guild and in a DM. From https://discord.com/developers/docs/events/gateway#gateway-intents */
interface Gate {
  guild: number;
  dm: number;
}

const ALWAYS: Gate = { guild: 0, dm: 0 };
const guilds: Gate = { guild: I.Guilds, dm: I.Guilds };
const members: Gate = { guild: I.GuildMembers, dm: 0 };
const messages: Gate = { guild: I.GuildMessages, dm: I.DirectMessages };
const reactions: Gate = { guild: I.GuildMessageReactions, dm: I.DirectMessageReactions };

const gates: Partial<Record<DispatchName, Gate>> = {
  GUILD_CREATE: guilds,
  GUILD_UPDATE: guilds,
  GUILD_DELETE: guilds,
  GUILD_ROLE_CREATE: guilds,
  GUILD_ROLE_UPDATE: guilds,
  GUILD_ROLE_DELETE: guilds,
  CHANNEL_CREATE: guilds,
  CHANNEL_UPDATE: guilds,
  CHANNEL_DELETE: guilds,
  CHANNEL_PINS_UPDATE: { guild: I.Guilds, dm: I.DirectMessages },
  THREAD_CREATE: guilds,
  THREAD_UPDATE: guilds,
  THREAD_DELETE: guilds,
  THREAD_LIST_SYNC: guilds,
  THREAD_MEMBER_UPDATE: guilds,
  THREAD_MEMBERS_UPDATE: guilds,
  GUILD_MEMBER_ADD: members,
  GUILD_MEMBER_UPDATE: members,
  GUILD_MEMBER_REMOVE: members,
  GUILD_AUDIT_LOG_ENTRY_CREATE: { guild: I.GuildModeration, dm: 0 },
  GUILD_BAN_ADD: { guild: I.GuildModeration, dm: 0 },
  GUILD_BAN_REMOVE: { guild: I.GuildModeration, dm: 0 },
  AUTO_MODERATION_ACTION_EXECUTION: { guild: I.AutoModerationExecution, dm: 0 },
  INVITE_CREATE: { guild: I.GuildInvites, dm: 0 },
  GUILD_EMOJIS_UPDATE: { guild: I.GuildExpressions, dm: 0 },
  WEBHOOKS_UPDATE: { guild: I.GuildWebhooks, dm: 0 },
  PRESENCE_UPDATE: { guild: I.GuildPresences, dm: 0 },
  MESSAGE_CREATE: messages,
  MESSAGE_UPDATE: messages,
  MESSAGE_DELETE: messages,
  MESSAGE_DELETE_BULK: messages,
  MESSAGE_REACTION_ADD: reactions,
  MESSAGE_REACTION_REMOVE: reactions,
  MESSAGE_REACTION_REMOVE_ALL: reactions,
  MESSAGE_REACTION_REMOVE_EMOJI: reactions,
  TYPING_START: { guild: I.GuildMessageTyping, dm: I.DirectMessageTyping },
};

/** Whether a session that identified with these intents receives the event. */
function intentsAdmit(intents: number, event: DispatchName, inGuild: boolean): boolean {
  const gate = gates[event] ?? ALWAYS;
  const needed = inGuild ? gate.guild : gate.dm;
  return (intents & needed) === needed;
}

/** The highest value that any combination of known intents has. */
export const ALL_INTENTS: number = Object.values(I).reduce<number>(
  (all, bit) => (typeof bit === 'number' ? all | bit : all),
  0,
);

/** Sends GUILD_CREATE to the bot's sessions. */
export function announceGuild(world: World, guild: LocalGuild, application: LocalApplication): void {
  for (const session of receivingSessions(world, 'GUILD_CREATE', { application, guild })) sendGuild(session, guild);
}

/** GUILD_CREATE: without GuildPresences the only member in it is the bot itself. */
export function sendGuild(session: GatewaySession, guild: LocalGuild): void {
  const self = guild.members.get(session.application.id);
  if (!self) return;
  const all = (session.intents & GatewayIntentBits.GuildPresences) !== 0;
  const members = all ? [...guild.members.values()] : [self];
  session.dispatch('GUILD_CREATE', JSON.stringify(guildCreatePayload(guild, self, members)));
}

export function announceEmojis(world: World, guild: LocalGuild): void {
  const emojis = [...guild.emojis.values()].map(emojiPayload);
  broadcast(world, 'GUILD_EMOJIS_UPDATE', { guild }, { guild_id: guild.id, emojis });
}

/** GUILD_DELETE for a bot that is no longer a member; without `unavailable`, which would mean an outage. */
export function announceLoss(world: World, guild: LocalGuild, application: LocalApplication): void {
  const json = JSON.stringify({ id: guild.id });
  for (const session of receivingSessions(world, 'GUILD_DELETE', { application, guild }))
    session.dispatch('GUILD_DELETE', json);
}
