import { unsay } from './plan/remove.js';
import { spaceOf } from './shard/place.js';
import type { Shard } from './shard/shard.js';
import type { Shards } from './shard/shards.js';
import { revised } from './text/revise.js';
import type { Added, Decision, Edit, Memories, Memory, MessageRef, NewMemory } from './types.js';

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

  const rewritten = async (shard: Shard, mind: string, ref: MessageRef, text: string, edit: Edit): Promise<number> => {
    const { guildId, channelId, messageId } = ref;
    const learned = shard.table.from(messageId).filter((memory) => memory.messageId === messageId);
    if (learned.length === 0 || deleted.has(messageId)) return 0;
    const place = { mind, guildId, channelId };
    const kept = learned.map((memory) => ({ memory, text: revised(memory.text, edit.before, text) }));
    const changed = edit.facts === undefined ? kept.filter((one) => one.text !== one.memory.text) : kept;
    const made: readonly Omit<NewMemory, 'messageId'>[] =
      edit.facts?.filter((fact) => fact.place.mind === mind).map((fact) => ({ ...fact, place, at: learned[0]?.at })) ??
      changed.flatMap((one) => (one.text === undefined ? [] : [{ ...asBefore(one.memory), place, text: one.text }]));
    await eraseFrom(
      shard,
      changed.map(({ memory }) => memory),
    );
    for (const memory of made) await addTo(shard, { ...memory, messageId }, undefined);
    return learned.length;
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
    async messageEdited(ref, text, edit = {}) {
      const counts = await shards.useEach(spaceOf(ref), (shard, mind) =>
        shard.run(() => rewritten(shard, mind, ref, text, edit)),
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
function asBefore({ speaker, speakerName, subject, subjectName, importance, visibility, at }: Memory) {
  return {
    speaker,
    speakerName: speakerName ?? undefined,
    subject,
    subjectName: subjectName ?? undefined,
    importance,
    visibility,
    at,
  };
}

function isFrom({ channelId, evidence }: Memory, deletedId: string): boolean {
  return channelId === deletedId || evidence.some((each) => each.channelId === deletedId);
}
