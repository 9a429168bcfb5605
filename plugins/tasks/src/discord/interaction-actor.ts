import type { Actor, ComponentInteraction } from '@cinnabar/sdk';

/** Who clicked, and where. */
export function actorIn({ user, guildId, channelId }: ComponentInteraction): Actor {
  return { userId: user.id, guildId, channelId: channelId ?? '' };
}
