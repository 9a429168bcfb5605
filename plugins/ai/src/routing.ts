import type { Channel } from 'discord.js';
import type { AiSettings } from './settings.js';

export interface Route {
  readonly responder: string;
  /** Who chose it. */
  readonly chosen: 'channel' | 'guild' | 'user' | 'default';
}

/** Which responder answers in a channel. A thread follows its parent unless it has its own; in a direct message the person chooses. */
export function routeOf(settings: AiSettings, channel: Channel, guildId: string | null): Promise<Route> {
  if (channel.isDMBased()) return directResponder(settings, 'recipientId' in channel ? channel.recipientId : null);
  const parents = channel.isThread() && channel.parentId !== null ? [channel.parentId] : [];
  return responderIn(settings, guildId, [channel.id, ...parents]);
}

async function directResponder(settings: AiSettings, userId: string | null): Promise<Route> {
  const chosen = userId === null ? undefined : (await settings.user(userId).get()).directResponder;
  if (chosen !== undefined) return { responder: chosen, chosen: 'user' };
  return { responder: (await settings.global.get()).defaultResponder, chosen: 'default' };
}

/** @param channelIds the channel, then the one that it follows */
export async function responderIn(
  settings: AiSettings,
  guildId: string | null,
  channelIds: readonly string[],
): Promise<Route> {
  for (const id of channelIds) {
    const { channelResponder } = await settings.channel(id).get();
    if (channelResponder !== undefined) return { responder: channelResponder, chosen: 'channel' };
  }
  const responder = guildId === null ? undefined : (await settings.guild(guildId).get()).responder;
  if (responder !== undefined) return { responder, chosen: 'guild' };
  return { responder: (await settings.global.get()).defaultResponder, chosen: 'default' };
}
