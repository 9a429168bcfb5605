import type { Client, MessageEditOptions } from 'discord.js';
import { type Ending, ended, type Verdict } from '../card/ending.js';
import { isGone } from './errors.js';
import { channelOf } from './place.js';
import { NO_PINGS } from './say.js';

export interface PostedCard {
  readonly channelId: string;
  readonly messageId: string;
  readonly content: string;
}

/** Shows on a card how it ended, and takes its buttons away. */
export function endCard(client: Client, card: PostedCard, ending: Ending, verdict?: Verdict): Promise<void> {
  return changeCard(client, card, { content: ended(card.content, ending, verdict), components: [] });
}

/** Edits a card. One that is gone needs nothing any more. */
export async function changeCard(
  client: Client,
  { channelId, messageId }: Pick<PostedCard, 'channelId' | 'messageId'>,
  change: Pick<MessageEditOptions, 'content' | 'components'>,
): Promise<void> {
  try {
    const channel = await channelOf(client, channelId);
    await channel?.messages.edit(messageId, { ...change, allowedMentions: NO_PINGS });
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}
