import { type Place, permissionName, type Ranks, t, UserError } from '@cinnabar/sdk';
import {
  type AnyThreadChannel,
  type Channel,
  type Guild,
  type GuildBasedChannel,
  PermissionsBitField,
  type PermissionsString,
} from 'discord.js';
import { placeOf, unreachableGuild } from './places.js';
import { type Caller, type Context, PLUGIN } from './settings.js';

/** The permissions to read the messages of a channel. */
export const READING = ['ViewChannel', 'ReadMessageHistory'] as const satisfies readonly PermissionsString[];

/** Whether the caller may do something in a place, in addition to the tool's own policy: the host decides. */
export async function may(
  { access }: Context,
  { actor, tool }: Caller,
  at: Place,
  member: readonly PermissionsString[],
  bot: readonly PermissionsString[] = [],
): Promise<boolean> {
  const decision = await access.decide(actor, {
    kind: 'tool',
    name: tool,
    plugin: PLUGIN,
    policy: { member, bot },
    at,
  });
  return decision.allowed;
}

/** @throws UserError "You need … for that." */
export async function demand(
  context: Context,
  caller: Caller,
  at: Place,
  permission: PermissionsString,
): Promise<void> {
  if (await may(context, caller, at, [permission])) return;
  throw new UserError(t('You need {permission} for that.', { permission: permissionName(permission) }));
}

/** The channels in which both the caller and the bot have the permissions. */
export async function channelsWith(
  context: Context,
  caller: Caller,
  channels: Iterable<GuildBasedChannel>,
  permissions: readonly PermissionsString[],
): Promise<readonly GuildBasedChannel[]> {
  const { client } = context;
  const allowed: GuildBasedChannel[] = [];
  for (const channel of channels) {
    // A channel that the bot cannot see costs no decision.
    if (client.user === null || channel.permissionsFor(client.user)?.has(VIEW) !== true) continue;
    const at = { guildId: channel.guildId, channelId: channel.id };
    if (await may(context, caller, at, permissions, permissions)) allowed.push(channel);
  }
  return allowed;
}

const VIEW = PermissionsBitField.Flags.ViewChannel;

/**
 * A guild of which the caller sees at least one channel, with the channels that they see: for tools that search or list a whole guild. An agent with grants for
 * some of its channels gets those.
 * @throws UserError the same for a guild that does not exist and for one that is out of reach
 */
export async function seenGuild(
  context: Context,
  caller: Caller,
  guild: Guild | undefined,
  permissions: readonly PermissionsString[] = ['ViewChannel'],
): Promise<{ readonly guild: Guild; readonly channels: readonly GuildBasedChannel[] }> {
  if (guild === undefined || !(await maySee(context, caller, guild))) throw unreachableGuild();
  // Threads are in the cache as well, but not all of them.
  const own = guild.channels.cache.filter((channel) => !channel.isThread());
  const channels = await channelsWith(context, caller, own.values(), permissions);
  if (channels.length === 0) throw unreachableGuild();
  await requireOpen(context, caller, guild);
  return { guild, channels };
}

/** Whether the caller can see anything in a guild, at the cost of one decision. For an agent only its channels decide. */
export async function maySee(context: Context, caller: Caller, { id }: Guild): Promise<boolean> {
  return caller.actor.identity !== undefined || may(context, caller, { guildId: id }, []);
}

/**
 * The host has checked the tool policy of the guild of the call; this checks that of another guild, for a tool without a `place` that reads there. @throws
 * UserError
 */
export async function requireOpen({ policies }: Context, { actor, tool }: Caller, guild: Guild): Promise<void> {
  if (guild.id === actor.guildId) return;
  const policy = await policies.get(guild.id, tool);
  if (policy === 'deny' || policy === 'confirm') throw unreachableGuild();
}

/** Checks who may change a thread: the member who started it or had it started, and moderators. @throws UserError */
export async function requireThreadRights(context: Context, caller: Caller, thread: AnyThreadChannel): Promise<void> {
  const { id, ownerId } = thread;
  const isTheirs = ownerId === caller.actor.userId || (await context.sent.whose(id, id, caller.actor)) === 'own';
  if (isTheirs) await requireUnlocked(context, caller, thread);
  else await demand(context, caller, placeOf(thread), 'ManageThreads');
}

/** A locked thread is open to the bot, as to moderators, but not to every requester. @throws UserError */
export async function requireUnlocked(context: Context, caller: Caller, channel: Channel): Promise<void> {
  if (channel.isThread() && channel.locked === true) await demand(context, caller, placeOf(channel), 'ManageThreads');
}

/** @throws UserError when a role would be at or above the highest role of the requester or the bot */
export function requireBelow({ asking, bot }: Ranks, position: number): void {
  if (asking.guild.ownerId !== asking.id && position >= asking.roles.highest.position) {
    throw new UserError(t('A role can only be moved to below your highest role.'));
  }
  if (position >= bot.roles.highest.position)
    throw new UserError(t('A role can only be moved to below my highest role.'));
}

/** Members can grant and remove only permissions that they have. @throws UserError with the missing ones */
export function requireHeld(held: Readonly<PermissionsBitField>, changed: Readonly<PermissionsBitField>): void {
  const missing = held.missing(changed);
  if (missing.length === 0) return;
  throw new UserError(
    t('You can only give or take permissions that you have yourself; you lack {missing}.', {
      missing: missing.join(', '),
    }),
  );
}
