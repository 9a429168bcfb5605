import type { Collection } from '@cinnabar/sdk';
import { type CacheState, cacheStateSchema, EMPTY_CACHE_STATE } from '../context/caching/cache-state.js';

/** What is remembered of each channel between answers, so that a restart costs no cache. */
export const memories = { scope: 'channel', version: 1, schema: cacheStateSchema } as const;

export interface MemoryStore {
  load(channelId: string): Promise<CacheState>;
  /** Resolves once it is written. */
  save(channelId: string, memory: CacheState): Promise<void>;
  /** Forgets what a person is called. */
  forget(userId: string): Promise<void>;
}

export function createMemoryStore(collection: Collection<typeof EMPTY_CACHE_STATE, 'channel'>): MemoryStore {
  return {
    load: async (channelId) => (await collection.of(channelId).find()) ?? EMPTY_CACHE_STATE,
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
