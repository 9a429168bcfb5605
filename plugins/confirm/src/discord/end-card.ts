import type { Client } from 'discord.js';
import { type Ending, ended } from '../card/ending.js';
import { isGone } from './errors.js';
import { channelOf } from './place.js';
import { NO_PINGS } from './say.js';

export interface PostedCard {
  readonly channelId: string;
  readonly messageId: string;
  readonly content: string;
}

/** Shows on a card how it ended, and takes its buttons away; without an ending only that. A card that is gone needs nothing any more. */
export async function endCard(
  client: Client,
  { channelId, messageId, content }: PostedCard,
  ending: Ending | undefined,
): Promise<void> {
  try {
    const channel = await channelOf(client, channelId);
    await channel?.messages.edit(messageId, {
      content: ending === undefined ? content : ended(content, ending),
      components: [],
      allowedMentions: NO_PINGS,
    });
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}
