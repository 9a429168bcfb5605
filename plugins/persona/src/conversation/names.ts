import { type Named, participantNames } from '@cinnabar/sdk';
import type { Line } from './schema.js';

/** Names for those in a conversation, by id: readable, different from one another, and none of them the persona's. */
export function namesIn(lines: readonly Line[], more: readonly Named[], self: string): ReadonlyMap<string, string> {
  const people = lines.flatMap(({ userId, displayName, username }): Named[] =>
    userId === null ? [] : [{ id: userId, displayName, username }],
  );
  return participantNames([...people, ...more], [self, 'System', 'Situation']);
}
