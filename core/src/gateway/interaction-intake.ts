import { ChannelType, GatewayDispatchEvents, type GatewayDispatchPayload } from 'discord.js';
import { LRUCache } from 'lru-cache';

/** Far more than arrive in the 15 minutes for which an interaction can be answered. */
const REMEMBERED = 20_000;

/**
 * Looks at each interaction before discord.js does. One without a `channel` gets one from its `channel_id`, which discord.js does not look at.
 * @returns whether discord.js may have it: one that has been delivered before is dropped, whatever made it come twice
 */
export function createInteractionIntake(): (payload: GatewayDispatchPayload) => boolean {
  const seen = new LRUCache<string, true>({ max: REMEMBERED });
  return (payload) => {
    if (payload.t !== GatewayDispatchEvents.InteractionCreate) return true;
    const { id, channel_id: channelId, channel } = payload.d;
    if (seen.has(id)) return false;
    seen.set(id, true);
    // The type does not matter: with neither guild nor recipients discord.js finds the channel in its cache, or leaves it to be fetched.
    if (channel === undefined && channelId !== undefined)
      payload.d.channel = { id: channelId, type: ChannelType.GuildText };
    return true;
  };
}
