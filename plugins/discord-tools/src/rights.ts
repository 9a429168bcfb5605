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

/** Whether the caller may do something in a place, in addition to the tool's own policy, as the host decides. */
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
 * A guild of which the caller sees at least one channel, and the channels that the caller sees, for tools that search or list a whole guild. For an agent with
 * grants for some channels, these are its channels.
 * @throws UserError with the same sentence for a guild that does not exist and one that the caller cannot reach
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

/** Whether the caller can see anything in a guild, with one decision. For an agent, its channels count. */
export async function maySee(context: Context, caller: Caller, { id }: Guild): Promise<boolean> {
  return caller.actor.identity !== undefined || may(context, caller, { guildId: id }, []);
}

/** Checks the tool policy of another guild, for a tool without a `place` that reads there. The host has checked that of the call's guild. @throws UserError */
export async function requireOpen({ policies }: Context, { actor, tool }: Caller, guild: Guild): Promise<void> {
  if (guild.id === actor.guildId) return;
  const policy = await policies.get(guild.id, tool);
  if (policy === 'deny' || policy === 'confirm') throw unreachableGuild();
}

/** @throws UserError unless the requester has started the thread, had it started, or is a moderator */
export async function requireThreadRights(context: Context, caller: Caller, thread: AnyThreadChannel): Promise<void> {
  const { id, ownerId } = thread;
  const isTheirs = ownerId === caller.actor.userId || (await context.sent.whose(id, id, caller.actor)) === 'own';
  if (isTheirs) await requireUnlocked(context, caller, thread);
  else await demand(context, caller, placeOf(thread), 'ManageThreads');
}

/** @throws UserError for a locked thread unless the requester may manage it. The bot itself can write there */
export async function requireUnlocked(context: Context, caller: Caller, channel: Channel): Promise<void> {
  if (channel.isThread() && channel.locked === true) await demand(context, caller, placeOf(channel), 'ManageThreads');
}

/** @throws UserError if a role would be at or above the highest role of the requester or the bot */
export function requireBelow({ asking, bot }: Ranks, position: number): void {
  if (asking.guild.ownerId !== asking.id && position >= asking.roles.highest.position) {
    throw new UserError(t('A role can only be moved to below your highest role.'));
  }
  if (position >= bot.roles.highest.position)
    throw new UserError(t('A role can only be moved to below my highest role.'));
}

/** @throws UserError with the missing ones unless the requester has all permissions that change, since members can grant and remove only those */
export function requireHeld(held: Readonly<PermissionsBitField>, changed: Readonly<PermissionsBitField>): void {
  const missing = held.missing(changed);
  if (missing.length === 0) return;
  throw new UserError(
    t('You can only give or take permissions that you have yourself; you lack {missing}.', {
      missing: missing.join(', '),
    }),
  );
}
