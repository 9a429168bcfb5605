import type { RelayEvent } from '../types.js';

/** Whether somebody has said it to the agent, and so waits for an answer, or for why there is none. */
export function isAsked({ kind }: RelayEvent): boolean {
  return kind === 'mention' || kind === 'reply' || kind === 'dm' || kind === 'thread';
}
