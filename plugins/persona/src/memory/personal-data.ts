import type { PersonalData } from '@cinnabar/sdk';
import { unsay } from './plan/remove.js';
import type { Shards } from './shard/shards.js';
import type { Memory } from './types.js';

/** What a member said, what is about them or mentions them, and what rests on that; over all guilds, direct messages and minds. */
export function personalDataIn(shards: Shards): PersonalData {
  return {
    async export(userId) {
      const found = [];
      for (const space of await shards.spaces()) {
        const theirs = await shards.useEach(space, async ({ table }, mind) =>
          [...table.all()].filter((memory) => concerns(memory, userId)).map((memory) => ({ mind, ...shown(memory) })),
        );
        found.push(...theirs.flat());
      }
      return found;
    },
    async forget(userId) {
      for (const space of await shards.spaces()) {
        await shards.useEach(space, (shard) =>
          shard.run(async () => {
            const { table } = shard;
            await shard.removeCopies(userId);
            const ids = [...table.all()].filter((memory) => concerns(memory, userId)).map(({ id }) => id);
            table.forgetNames(userId);
            if (ids.length === 0) return;
            await shard.erase(unsay(table, ids));
            await shard.rewrite();
          }),
        );
      }
    },
  };
}

function concerns({ speaker, subject, evidence, text }: Memory, userId: string): boolean {
  if (speaker === userId || subject === userId || text.includes(`<@${userId}>`) || text.includes(`<@!${userId}>`))
    return true;
  return evidence.some(({ people }) => people.includes(userId));
}

/** Without what only ranking needs. */
function shown({
  id,
  kind,
  text,
  subject,
  speaker,
  messageId,
  channelId,
  guildId,
  at,
  importance,
  visibility,
}: Memory) {
  return {
    id,
    kind,
    text,
    subject,
    speaker,
    messageId,
    channelId,
    guildId,
    at: new Date(at).toISOString(),
    importance,
    visibility,
  };
}
