import type { MemoryFile } from './memory-file.js';
import { type MemoryFiles, spaceOf } from './memory-files.js';
import { revised } from './revise.js';
import type { Memories, Memory } from './types.js';
import { planAdd, retract } from './updates.js';

type Following = Pick<Memories, 'messageDeleted' | 'messageEdited' | 'channelDeleted' | 'guildDeleted'>;

/** A run may still be under way about a message that is deleted meanwhile. */
const MOST_DELETED = 10_000;

/** What happens to messages and channels happens to what was learned there. */
export function createSourceChanges(files: MemoryFiles) {
  const deleted = new Set<string>();

  const noteDeleted = (messageId: string) => {
    deleted.add(messageId);
    const [oldest] = deleted;
    if (deleted.size > MOST_DELETED && oldest !== undefined) deleted.delete(oldest);
  };

  const eraseFrom = async (file: MemoryFile, memories: readonly Memory[]): Promise<number> => {
    if (memories.length === 0) return 0;
    const change = retract(
      file.index,
      memories.map(({ id }) => id),
    );
    await file.erase(change);
    return change.drop?.length ?? 0;
  };

  const eraseWhere = async (space: string, find: (file: MemoryFile) => readonly Memory[]): Promise<number> => {
    const counts = await files.useEach(space, (file) => file.run(() => eraseFrom(file, find(file))));
    return counts.reduce((sum, count) => sum + count, 0);
  };

  /** The memory in other words, in its place among what it superseded and what superseded it. */
  const rewrite = async (file: MemoryFile, memory: Memory, text: string, superseded: readonly Memory[]) => {
    const { index } = file;
    const successor = memory.supersededBy === null ? undefined : index.get(memory.supersededBy);
    const amended = { ...memory, text, duplicateOf: null, supersededBy: successor?.id ?? null };
    const before = superseded.flatMap(({ id }) => index.get(id) ?? []);
    const put = [amended, ...before.map((other) => ({ ...other, supersededBy: amended.id }))];
    await file.commit(put.length === 1 && successor === undefined ? planAdd(index, amended) : { put });
  };

  const rewriteFrom = async (file: MemoryFile, messageId: string, text: string, before: string | undefined) => {
    const { index } = file;
    const learned = index.from(messageId).filter((memory) => memory.messageId === messageId);
    if (deleted.has(messageId)) return 0;
    const changed = learned
      .map((memory) => ({
        memory,
        text: revised(memory.text, before, text),
        superseded: index.supersededBy(memory.id),
      }))
      .filter((one) => one.text !== one.memory.text);
    await eraseFrom(
      file,
      changed.map(({ memory }) => memory),
    );
    for (const { memory, text: now, superseded } of changed) {
      if (now !== undefined) await rewrite(file, memory, now, superseded);
    }
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
        count += await eraseWhere(space, ({ index }) => ids.flatMap((id) => [...index.from(id)]));
      }
      return count;
    },
    async messageEdited(ref, text, before) {
      const counts = await files.useEach(spaceOf(ref), (file) =>
        file.run(() => rewriteFrom(file, ref.messageId, text, before)),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
    channelDeleted: (guildId, channelId) =>
      eraseWhere(spaceOf({ guildId, channelId }), ({ index }) =>
        [...index.all()].filter((memory) => isFrom(memory, channelId)),
      ),
    async guildDeleted(guildId) {
      await files.useEach(spaceOf({ guildId, channelId: guildId }), (file) => file.run(() => file.wipe()));
    },
  };
  return { ...following, isDeleted: (messageId: string | null) => messageId !== null && deleted.has(messageId) };
}

function isFrom({ channelId, evidence }: Memory, deletedId: string): boolean {
  return channelId === deletedId || evidence.some((each) => each.channelId === deletedId);
}
