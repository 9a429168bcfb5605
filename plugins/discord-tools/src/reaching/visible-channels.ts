import { UserError } from '@cinnabar/sdk';
import { type Guild, type GuildBasedChannel, PermissionsBitField, type PermissionsString } from 'discord.js';
import type { Caller, Parts } from '../parts.js';
import { may } from './may.js';

export const NO_SUCH_GUILD = 'There is no server with that id that I can reach.';

/** Those channels of a guild where whoever calls, and the bot, may do this; threads only when they are among `channels`. */
export async function channelsWith(
  parts: Pick<Parts, 'access' | 'client'>,
  caller: Caller,
  channels: Iterable<GuildBasedChannel>,
  permissions: readonly PermissionsString[],
): Promise<readonly GuildBasedChannel[]> {
  const allowed: GuildBasedChannel[] = [];
  for (const channel of channels) {
    // What the bot itself cannot see costs no decision.
    if (parts.client.user === null || channel.permissionsFor(parts.client.user)?.has(VIEW) !== true) continue;
    const at = { guildId: channel.guildId, channelId: channel.id };
    if (await may(parts, caller, at, permissions, permissions)) allowed.push(channel);
  }
  return allowed;
}

const VIEW = PermissionsBitField.Flags.ViewChannel;

/**
 * A guild of which whoever calls sees at least one channel, with those that they see. It is asked for tools that look over a whole guild:
 * an agent that was let into some of its channels may use them too, and finds those.
 * @throws UserError that is the same for a guild that does not exist and for one that is out of reach
 */
export async function seenGuild(
  parts: Pick<Parts, 'access' | 'client' | 'policies'>,
  caller: Caller,
  guild: Guild | undefined,
  permissions: readonly PermissionsString[] = ['ViewChannel'],
): Promise<{ readonly guild: Guild; readonly channels: readonly GuildBasedChannel[] }> {
  if (guild === undefined || !(await maySee(parts, caller, guild))) throw new UserError(NO_SUCH_GUILD);
  // Threads are in the cache as well, though not all of them.
  const own = guild.channels.cache.filter((channel) => !channel.isThread());
  const channels = await channelsWith(parts, caller, own.values(), permissions);
  if (channels.length === 0) throw new UserError(NO_SUCH_GUILD);
  await requireOpen(parts, caller, guild);
  return { guild, channels };
}

/**
 * Whether there can be anything in a guild for whoever calls, at the cost of one decision: a person is in it, or not. For an agent only its
 * channels tell.
 */
export async function maySee(parts: Pick<Parts, 'access'>, caller: Caller, { id }: Guild): Promise<boolean> {
  return caller.actor.identity !== undefined || may(parts, caller, { guildId: id }, []);
}

/**
 * The host has asked the policy of the guild in which the call was made; this asks that of another one, over which a tool without a `place`
 * looks. @throws UserError
 */
export async function requireOpen(
  { policies }: Pick<Parts, 'policies'>,
  { actor, tool }: Caller,
  guild: Guild,
): Promise<void> {
  if (guild.id === actor.guildId) return;
  const policy = await policies.get(guild.id, tool);
  if (policy === 'deny' || policy === 'confirm') throw new UserError(NO_SUCH_GUILD);
}
