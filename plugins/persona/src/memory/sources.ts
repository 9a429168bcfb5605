import { unsay } from './plan/remove.js';
import { spaceOf } from './shard/place.js';
import type { Shard } from './shard/shard.js';
import type { Shards } from './shard/shards.js';
import type { Added, Decision, Memories, Memory, MessageRef, NewMemory } from './types.js';

interface Parts {
  readonly shards: Shards;
  addTo(shard: Shard, memory: NewMemory, decision: Decision | undefined): Promise<Added>;
}

type Following = Pick<Memories, 'messageDeleted' | 'messageEdited' | 'channelDeleted' | 'guildDeleted'>;

/** A mind may still be thinking about a message that is deleted meanwhile. */
const MOST_DELETED = 10_000;

/** What happens to messages and channels happens to what was learned there. */
export function createSources({ shards, addTo }: Parts) {
  const deleted = new Set<string>();

  const noteDeleted = (messageId: string) => {
    deleted.add(messageId);
    const [oldest] = deleted;
    if (deleted.size > MOST_DELETED && oldest !== undefined) deleted.delete(oldest);
  };

  const eraseFrom = async (shard: Shard, memories: readonly Memory[]): Promise<number> => {
    if (memories.length === 0) return 0;
    const change = unsay(
      shard.table,
      memories.map(({ id }) => id),
    );
    await shard.erase(change);
    return change.drop?.length ?? 0;
  };

  const eraseWhere = async (space: string, find: (shard: Shard) => readonly Memory[]): Promise<number> => {
    const counts = await shards.useEach(space, (shard) => shard.run(() => eraseFrom(shard, find(shard))));
    return counts.reduce((sum, count) => sum + count, 0);
  };

  const rewritten = async (
    shard: Shard,
    mind: string,
    ref: MessageRef,
    text: string,
    facts: readonly Omit<NewMemory, 'messageId' | 'at'>[] | undefined,
  ): Promise<number> => {
    const learned = shard.table.from(ref.messageId).filter(({ messageId }) => messageId === ref.messageId);
    const [first] = learned;
    if (first === undefined || deleted.has(ref.messageId)) return 0;
    const { guildId, channelId, messageId } = ref;
    const before = asBefore(first);
    const now: readonly Omit<NewMemory, 'messageId' | 'at'>[] = facts?.filter(({ place }) => place.mind === mind) ?? [
      { ...before, place: { mind, guildId, channelId }, text },
    ];
    await eraseFrom(shard, shard.table.from(messageId));
    let count = 0;
    for (const fact of now) {
      const place = { mind, guildId, channelId };
      const { memory } = await addTo(shard, { ...fact, place, messageId, at: first.at }, undefined);
      if (memory !== undefined) count++;
    }
    return count;
  };

  const following: Following = {
    async messageDeleted(messages) {
      const bySpace = new Map<string, string[]>();
      for (const message of [messages].flat()) {
        noteDeleted(message.messageId);
        const space = spaceOf(message);
        bySpace.set(space, [...(bySpace.get(space) ?? []), message.messageId]);
      }
      let count = 0;
      for (const [space, ids] of bySpace) {
        count += await eraseWhere(space, ({ table }) => ids.flatMap((id) => [...table.from(id)]));
      }
      return count;
    },
    async messageEdited(ref, text, facts) {
      const counts = await shards.useEach(spaceOf(ref), (shard, mind) =>
        shard.run(() => rewritten(shard, mind, ref, text, facts)),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
    channelDeleted: (guildId, channelId) =>
      eraseWhere(spaceOf({ guildId, channelId }), ({ table }) =>
        [...table.all()].filter((memory) => isFrom(memory, channelId)),
      ),
    async guildDeleted(guildId) {
      await shards.useEach(spaceOf({ guildId, channelId: guildId }), (shard) => shard.run(() => shard.wipe()));
    },
  };
  return { ...following, isDeleted: (messageId: string | null) => messageId !== null && deleted.has(messageId) };
}

/** What an edit does not change. */
function asBefore({ speaker, speakerName, visibility }: Memory) {
  return { speaker, speakerName: speakerName ?? undefined, visibility };
}

function isFrom({ channelId, evidence }: Memory, deletedId: string): boolean {
  return channelId === deletedId || evidence.some((each) => each.channelId === deletedId);
}
