import type { Collection } from '@cinnabar/sdk';
import { type ChannelMemory, channelMemorySchema, EMPTY_MEMORY } from '../context/memory.js';

/** What is remembered of each channel between answers, so that a restart costs no cache. */
export const memories = { scope: 'channel', version: 1, schema: channelMemorySchema } as const;

export interface MemoryStore {
  load(channelId: string): Promise<ChannelMemory>;
  /** Resolves once it is written. */
  save(channelId: string, memory: ChannelMemory): Promise<void>;
}

export function createMemoryStore(collection: Collection<typeof EMPTY_MEMORY, 'channel'>): MemoryStore {
  return {
    load: async (channelId) => (await collection.of(channelId).find()) ?? EMPTY_MEMORY,
    async save(channelId, memory) {
      await collection.of(channelId).set(memory);
    },
  };
}
