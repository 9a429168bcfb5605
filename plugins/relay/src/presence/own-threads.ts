import { type Collection, z } from '@cinnabar/sdk';
import type { Client, Message } from 'discord.js';

/** Threads of the bot's in which somebody has written. */
export const startedThreads = {
  scope: 'channel',
  version: 1,
  schema: z.object({
    begun: z.boolean(),
    /** The message that was the first, where it was seen. */
    firstId: z.string().optional(),
  }),
} as const;

export interface OwnThreads {
  /** Whether a message is the first that a person writes in a thread that the bot has started. Says so once. */
  isFirst(message: Message<true>): Promise<boolean>;
  /** Whether that was said of the message. */
  wasFirst(message: Message): Promise<boolean>;
}

const LOOKED_AT = 20;

export function createOwnThreads(
  kept: Collection<z.output<typeof startedThreads.schema>, 'channel'>,
  client: Client,
): OwnThreads {
  const judging = new Set<string>();
  const wasQuiet = async ({ channel, id }: Message<true>): Promise<boolean> => {
    // A thread may be older than the agents here.
    const before = await channel.messages.fetch({ before: id, limit: LOOKED_AT });
    return before.every(({ author, system }) => author.bot || system);
  };
  return {
    async isFirst(message) {
      const { channel, channelId } = message;
      if (!channel.isThread() || channel.ownerId !== client.user?.id || judging.has(channelId)) return false;
      judging.add(channelId);
      try {
        if ((await kept.of(channelId).find()) !== undefined) return false;
        const first = await wasQuiet(message);
        await kept.of(channelId).set({ begun: true, ...(first ? { firstId: message.id } : {}) });
        return first;
      } finally {
        judging.delete(channelId);
      }
    },
    wasFirst: async ({ channel, channelId, id }) =>
      channel.isThread() && (await kept.of(channelId).find())?.firstId === id,
  };
}
