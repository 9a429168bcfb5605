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
  if (guild === undefined) throw new UserError(NO_SUCH_GUILD);
  const channels = await channelsWith(parts, caller, guild.channels.cache.values(), permissions);
  if (channels.length === 0) throw new UserError(NO_SUCH_GUILD);
  // The host has asked the policy of the guild in which the call was made.
  if (guild.id !== caller.actor.guildId && (await parts.policies.get(guild.id, caller.tool)) !== undefined) {
    if ((await parts.policies.get(guild.id, caller.tool)) !== 'allow') throw new UserError(NO_SUCH_GUILD);
  }
  return { guild, channels };
}
