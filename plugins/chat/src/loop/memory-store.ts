import type { Collection } from '@cinnabar/sdk';
import { type ChannelMemory, channelMemorySchema, EMPTY_MEMORY } from '../context/memory.js';

/** What is remembered of each channel between answers, so that a restart costs no cache. */
export const memories = { scope: 'channel', version: 1, schema: channelMemorySchema } as const;

export interface MemoryStore {
  load(channelId: string): Promise<ChannelMemory>;
  /** Resolves once it is written. */
  save(channelId: string, memory: ChannelMemory): Promise<void>;
  /** Forgets what a person is called. */
  forget(userId: string): Promise<void>;
}

export function createMemoryStore(collection: Collection<typeof EMPTY_MEMORY, 'channel'>): MemoryStore {
  return {
    load: async (channelId) => (await collection.of(channelId).find()) ?? EMPTY_MEMORY,
    async save(channelId, memory) {
      await collection.of(channelId).set(memory);
    },
    async forget(userId) {
      for await (const [channelId, memory] of collection.entries()) {
        if (!Object.hasOwn(memory.names, userId)) continue;
        const names = Object.fromEntries(Object.entries(memory.names).filter(([id]) => id !== userId));
        await collection.of(channelId).set({ ...memory, names });
      }
    },
  };
}
