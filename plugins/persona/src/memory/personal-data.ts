import type { MayRead } from '../personal-data.js';
import type { MemoryFiles } from './memory-files.js';
import type { Memory, PersonalMemories } from './types.js';
import { retract } from './updates.js';

/**
 * What a member said, what is about them or mentions them, and what rests on that; over all guilds, direct messages and minds. What comes from
 * where the member cannot read now is withheld: an export says that there is something, and forgetting deletes it.
 */
export function personalDataIn(files: MemoryFiles): PersonalMemories {
  return {
    async export(userId, mayRead) {
      const found = [];
      for (const space of await files.spaces()) {
        const theirs = await files.useEach(space, async ({ index }, mind) =>
          [...index.all()].filter((memory) => concerns(memory, userId)).map((memory) => ({ mind, memory })),
        );
        for (const { mind, memory } of theirs.flat())
          found.push({ mind, ...((await mayKnow(memory, mayRead)) ? told(memory) : withheld(memory)) });
      }
      return found;
    },
    async forget(userId) {
      for (const space of await files.spaces()) {
        await files.useEach(space, (file) =>
          file.run(async () => {
            const { index } = file;
            await file.removeCopies(userId);
            const ids = [...index.all()].filter((memory) => concerns(memory, userId)).map(({ id }) => id);
            index.people.remove(userId);
            if (ids.length === 0) return;
            await file.erase(retract(index, ids));
            await file.rewrite();
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

/**
 * What they can read now, with everything that it rests on. That they said it is not enough: a memory is in the words of a model, which had read what
 * others said there.
 */
async function mayKnow({ guildId, evidence, ...own }: Memory, mayRead: MayRead): Promise<boolean> {
  for (const { channelId, messageId } of [own, ...evidence])
    if (!(await mayRead({ ...(guildId === null ? {} : { guildId }), channelId, messageId }))) return false;
  return true;
}

function withheld({ id, at }: Memory) {
  return {
    id,
    at: new Date(at).toISOString(),
    text: null,
    withheld: 'from a place that you cannot read now',
  };
}

/** Without what only ranking needs. */
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
