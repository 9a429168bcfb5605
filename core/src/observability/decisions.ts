import type { MessageDecision, MessageDecisions } from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';

const MESSAGES = 1_000;
const OF_ONE = 8;

/** Remembers what was decided about the latest messages. */
export function createMessageDecisions(): MessageDecisions {
  const noted = new LRUCache<string, readonly MessageDecision[]>({ max: MESSAGES });
  return {
    note(messageId, decision) {
      noted.set(messageId, [...(noted.get(messageId) ?? []), decision].slice(-OF_ONE));
    },
    of: (messageId) => noted.get(messageId) ?? [],
  };
}
