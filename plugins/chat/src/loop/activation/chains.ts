import type { Message } from 'discord.js';
import { LRUCache } from 'lru-cache';

/** How many answers of bots stand at the end of each channel, with no person's between them. */
export interface Chains {
  /** Counts a message in; of an answer in several, only the first. */
  note(message: Message): number;
}

const REMEMBERED = 20_000;

export function createChains(): Chains {
  const lengths = new LRUCache<string, number>({ max: REMEMBERED });
  return {
    note({ channelId, author, webhookId }) {
      if (!author.bot && webhookId === null) {
        lengths.delete(channelId);
        return 0;
      }
      const length = (lengths.get(channelId) ?? 0) + 1;
      lengths.set(channelId, length);
      return length;
    },
  };
}
