import type { PersonalData } from '@cinnabar/sdk';
import type { Grants } from '../session/grants.js';
import type { Board } from '../waiting/board.js';
import type { Expiry } from '../waiting/expiry.js';
import type { CardRecord, Records } from '../waiting/records.js';

/** The cards of a member's open requests, and what they have allowed for tasks. */
export function personalCards(parts: { board: Board; records: Records; expiry: Expiry; grants: Grants }): PersonalData {
  const { board, records, expiry, grants } = parts;
  const recordsOf = async (userId: string) => {
    const theirs: [callId: string, record: CardRecord][] = [];
    for await (const [callId, record] of records.all()) if (record.userId === userId) theirs.push([callId, record]);
    return theirs;
  };
  return {
    export: async (userId) => ({
      waiting: (await recordsOf(userId)).map(([callId, record]) => ({ callId, ...record })),
      allowed: await grants.exportFor(userId),
    }),
    async forget(userId) {
      for (const card of [...(board.of(userId) ?? [])]) await expiry.expire(card, 'forgotten');
      for (const [callId] of await recordsOf(userId)) await records.delete(callId);
      await grants.forget(userId);
    },
  };
}
