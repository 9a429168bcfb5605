import type { ChannelType, Guild, GuildBasedChannel } from 'discord.js';
import type { Found } from '../place.js';
import { orNothing } from './fetch.js';
import { idIn, only, plainName } from './names.js';

/** A channel or thread of the guild by mention, id or name; of one of `types` when given. */
export async function findChannel(
  guild: Guild,
  typed: string,
  types: readonly ChannelType[] | undefined,
): Promise<Found<GuildBasedChannel>> {
  const fits = (channel: GuildBasedChannel) => types === undefined || types.includes(channel.type);
  const id = idIn(typed, /^<#(\d+)>$/);
  if (id !== undefined) {
    const channel = guild.channels.cache.get(id) ?? (await orNothing(guild.channels.fetch(id)));
    if (channel === null || channel === undefined) return { problem: 'That channel is not in this server.' };
    return fits(channel) ? { value: channel } : { problem: `${channel} is not the kind of channel that is needed.` };
  }
  const name = plainName(typed, '#');
  const called = [...guild.channels.cache.values()].filter((one) => fits(one) && one.name.toLowerCase() === name);
  return only(called, 'channel', typed, (one) => `${one.name} (${one.id})`);
}
