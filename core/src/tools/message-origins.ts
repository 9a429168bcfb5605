import type { Logger, MessageOrigin, MessageOriginSource, MessageOrigins } from '@cinnabar/sdk';

/** Asks every plugin that has sent messages; where several know a message, the first one added. */
export function createMessageOrigins(log: Logger): MessageOrigins {
  const sources = new Set<MessageOriginSource>();
  return {
    async of(channelId, messageIds) {
      const found = new Map<string, MessageOrigin>();
      if (messageIds.length === 0) return found;
      for (const source of sources) {
        try {
          for (const [id, origin] of await source(channelId, messageIds)) if (!found.has(id)) found.set(id, origin);
        } catch (error) {
          log.warn('it could not be looked up what stands behind messages', { channelId, error });
        }
      }
      return found;
    },
    add(source) {
      const own: MessageOriginSource = (channelId, ids) => source(channelId, ids);
      sources.add(own);
      return async () => void sources.delete(own);
    },
  };
}
