import type { PersonalData } from '@cinnabar/sdk';
import { unsay } from './plan/remove.js';
import type { Shards } from './shard/shards.js';
import type { Memory } from './types.js';

/**
 * What a member said, what is about them or mentions them, and what rests on that; over all guilds, direct messages and minds. What others have
 * said of them in a private channel or a direct message is not told, not even to them: an export says that there is something, and forgetting
 * deletes it.
 */
export function personalDataIn(shards: Shards): PersonalData {
  return {
    async export(userId) {
      const found = [];
      for (const space of await shards.spaces()) {
        const theirs = await shards.useEach(space, async ({ table }, mind) =>
          [...table.all()]
            .filter((memory) => concerns(memory, userId))
            .map((memory) => ({ mind, ...shown(memory, userId) })),
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

/** Whether a member may be told: what everybody may, what they said themselves, and what rests on nothing else. */
function mayKnow({ visibility, speaker, evidence }: Memory, userId: string): boolean {
  if (visibility === 'guild' || speaker === userId) return true;
  return (
    evidence.length > 0 && evidence.every(({ people }) => people.length > 0 && people.every((id) => id === userId))
  );
}

/** Without what only ranking needs. */
function shown(memory: Memory, userId: string) {
  return mayKnow(memory, userId)
    ? told(memory)
    : {
        id: memory.id,
        at: new Date(memory.at).toISOString(),
        text: null,
        withheld: 'said by somebody else, in confidence',
      };
}

function told({ id, kind, text, subject, speaker, messageId, channelId, guildId, at, importance, visibility }: Memory) {
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
