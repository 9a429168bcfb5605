import { t } from '@cinnabar/sdk';
import { distance } from 'fastest-levenshtein';
import type { MayRead } from '../personal-data.js';
import { type MemoryFile, type MemoryFiles, spaceOf } from './memory-files.js';
import type { Memory, MessageRef } from './types.js';
import { planAdd, retract } from './updates.js';
import { differencesOf, folded } from './words.js';

/** Number of deleted message ids kept in memory: a run may still add a memory from a message that was deleted meanwhile. */
const MOST_DELETED = 10_000;

/** Applies edits and deletions of messages and channels to the memories that were learned from them. */
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

  /** Stores the memory with another text, with the same links to what it superseded and what superseded it. */
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

  return {
    isDeleted: (messageId: string | null) => messageId !== null && deleted.has(messageId),
    /** Deletes what was learned from messages, as though it had never been said. Resolves with the number of deleted memories. */
    async messageDeleted(messages: MessageRef | readonly MessageRef[]): Promise<number> {
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
    /**
     * Follows the edit of a message: memories from it get the new words where that is possible, and are deleted otherwise (see `revised`); speaker, time and
     * visibility stay. Resolves with the number of memories from the message.
     * @param before the earlier text, if known
     */
    async messageEdited(ref: MessageRef, text: string, before?: string): Promise<number> {
      const counts = await files.useEach(spaceOf(ref), (file) =>
        file.run(() => rewriteFrom(file, ref.messageId, text, before)),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
    /** Deletes what was learned from messages of a deleted channel. */
    channelDeleted: (guildId: string, channelId: string) =>
      eraseWhere(spaceOf({ guildId, channelId }), ({ index }) =>
        [...index.all()].filter(
          (memory) => memory.channelId === channelId || memory.evidence.some((each) => each.channelId === channelId),
        ),
      ),
  };
}

/** A difference between two texts: the words before and after the edit. */
interface Hunk {
  readonly was: readonly string[];
  readonly is: readonly string[];
  /** Whether the new words are a separate sentence. */
  readonly isAfterwards: boolean;
}

/** Longer messages are not compared; an edit then deletes their memories. */
const MOST_WORDS = 400;
/** Maximum number, and maximum share, of letters that a correction may change. */
const MOST_LETTERS = 2;
const NEAR = 0.34;
const WORD = /[\p{L}\p{N}\p{M}]+(?:['’][\p{L}]+)*/gu;
const SENTENCE_END = /[.!?…。！？؟।\n]["'”’)\]]*\s*$/u;

/**
 * The text of a memory after an edit of its source message: unchanged when the edit does not affect it; with the new words in place of the old ones.
 * `undefined` when that cannot be decided without understanding the text: then the memory is deleted.
 * @param before the earlier text of the message, if known
 * @example revised('Alice lives in Watson.', 'I live in Watson', 'I live in Heywood') // 'Alice lives in Heywood.'
 */
function revised(memory: string, before: string | undefined, after: string): string | undefined {
  if (before === undefined) return sameWords(memory, after) ? memory : undefined;
  const hunks = hunksOf(before, after);
  if (hunks === undefined) return undefined;
  let text = memory;
  for (const hunk of hunks) {
    const replaced = withWords(text, hunk);
    if (replaced !== undefined) text = replaced;
    else if (!isHarmless(hunk, memory)) return undefined;
  }
  return text;
}

/** Whether an edit only corrects the spelling. */
export function isCorrection(before: string, after: string): boolean {
  const hunks = hunksOf(before, after);
  return hunks?.every(({ was, is }) => was.length > 0 && is.length > 0 && isNear(was, is)) === true;
}

const wordsIn = (text: string): readonly string[] => text.match(WORD) ?? [];

const sameWords = (one: string, other: string): boolean =>
  wordsIn(folded(one)).join(' ') === wordsIn(folded(other)).join(' ');

/** The memory with the new words instead of the old ones; `undefined` if it does not contain these in a row. */
function withWords(memory: string, { was, is }: Hunk): string | undefined {
  if (was.length === 0 || is.length === 0) return undefined;
  const pattern = was.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[^\\p{L}\\p{N}]+');
  const found = new RegExp(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, 'giu');
  return found.test(memory) ? memory.replace(found, () => is.join(' ')) : undefined;
}

function isHarmless({ was, is, isAfterwards }: Hunk, memory: string): boolean {
  const words = new Set(wordsIn(folded(memory)));
  if (was.some((word) => words.has(folded(word)))) return false;
  return was.length > 0 && is.length > 0 ? isNear(was, is) : isAfterwards;
}

/** Whether one may be a misspelling of the other: the first letter is the same as a rule, and numbers always are. */
function isNear(was: readonly string[], is: readonly string[]): boolean {
  const [one, other] = [was.join(''), is.join('')].map(folded);
  if (one === undefined || other === undefined || one[0] !== other[0] || /\p{N}/u.test(one + other))
    return one === other;
  return distance(one, other) <= Math.min(MOST_LETTERS, NEAR * Math.max(one.length, other.length));
}

/** The differences, found by the longest common sequence of words. `undefined` for too many words. */
function hunksOf(before: string, after: string): readonly Hunk[] | undefined {
  const [was, is] = [wordsIn(before), wordsIn(after)];
  if (was.length > MOST_WORDS || is.length > MOST_WORDS) return undefined;
  const [a, b] = [was.map(folded), is.map(folded)];
  return differencesOf(a, b).map(({ mine, theirs }) => ({
    was: was.slice(...mine),
    is: is.slice(...theirs),
    isAfterwards: mine[1] === was.length && theirs[1] === is.length && startsSentence(after, theirs[0]),
  }));
}

/** Whether the words from the n-th on are separate sentences. */
function startsSentence(text: string, index: number): boolean {
  const word = [...text.matchAll(WORD)][index];
  return word !== undefined && SENTENCE_END.test(text.slice(0, word.index).replace(/["'“‘([*_~]+$/u, ''));
}

/**
 * A member's statements, memories about them or with mentions of them, and memories based on these; over all guilds, direct messages and minds. Memories from
 * places that the member cannot read now are withheld: an export says that they exist, and a deletion deletes them.
 */
export function personalDataIn(files: MemoryFiles) {
  return {
    async export(userId: string, mayRead: MayRead): Promise<unknown> {
      const found = [];
      for (const space of await files.spaces()) {
        const theirs = await files.useEach(space, async ({ index }, mind) =>
          [...index.all()].filter((memory) => concerns(memory, userId)).map((memory) => ({ mind, memory })),
        );
        for (const { mind, memory } of theirs.flat())
          found.push({ mind, ...((await mayKnow(memory, mayRead)) ? readable(memory) : withheld(memory)) });
      }
      return found;
    },
    async forget(userId: string): Promise<void> {
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
 * Whether the member can read a memory's source and those of its evidence now. Being the speaker is not enough: the model that wrote the memory had read other
 * people's messages, too.
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
    withheld: t('from a place that you cannot read now'),
  };
}

/** Without properties that only ranking uses. */
function readable({
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
