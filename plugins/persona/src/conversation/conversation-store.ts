import { type Collection, compareIds } from '@cinnabar/sdk';
import { covers, withoutMessages, withoutUser } from './chapters.js';
import { type Chapter, type Conversation, conversation, type Line, withChapters } from './schema.js';

/** To be declared among the plugin's collections. */
export const conversations = {
  scope: 'channel',
  version: 2,
  schema: conversation,
  migrations: { 2: withChapters },
} as const;
type ConversationCollection = Collection<Conversation, 'channel'>;

/** What was said to a persona and by it, channel by channel. */
export interface ConversationStore {
  /** What has been said since it was last reset. */
  read(channelId: string): Promise<Conversation>;
  /** With what a reset has put aside. */
  readAll(channelId: string): Promise<Conversation>;
  /** Adds what is not there yet, in the order of time. */
  add(channelId: string, lines: readonly Line[], seenId?: string): Promise<void>;
  /** Puts chapters in the place of lines and chapters that they were made from, unless any of those has been edited or deleted meanwhile. */
  fold(channelId: string, from: Pick<Conversation, 'lines' | 'chapters'>, chapters: readonly Chapter[]): Promise<void>;
  /** Whether these lines are still there, word for word or in a chapter: not edited, deleted or cleared since they were read. */
  stand(channelId: string, lines: readonly Line[]): Promise<boolean>;
  /** Messages were deleted: what was said in them, and what was made of that, goes. */
  forgetMessages(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** Resolves with what the message said before, as far as that is known; `undefined` where it is known to say just that. */
  edit(
    channelId: string,
    messageId: string,
    text: string,
  ): Promise<{ readonly before: string | undefined } | undefined>;
  /** Forgets all of it for good; what was said up to `seenId` is not looked at again. */
  clear(channelId: string, seenId?: string): Promise<void>;
  /** Puts all of it aside; what was said up to `seenId` is not looked at again. Resolves with what `bringBack` takes. */
  putAside(channelId: string, seenId: string): Promise<number>;
  bringBack(channelId: string, clearedAt: number): Promise<void>;
  /** Those in which something has been said. */
  channels(): Promise<readonly string[]>;
  export(userId: string): Promise<unknown>;
  forget(userId: string): Promise<void>;
}

/** However busy a channel is between two summaries. */
const MOST_LINES = 300;
const MOST_CHARACTERS = 4_000;

export function createConversationStore(collection: ConversationCollection): ConversationStore {
  const ofThoseThatAre = async (
    channelId: string,
    isTouched: (there: Conversation) => boolean,
    change: (draft: Conversation) => void,
  ) => {
    const there = await collection.of(channelId).find();
    if (there !== undefined && isTouched(there)) await collection.of(channelId).update(change);
  };

  return {
    read: async (channelId) => sinceCleared(await collection.of(channelId).get()),
    readAll: (channelId) => collection.of(channelId).get(),
    async add(channelId, lines, seenId) {
      await collection.of(channelId).update((draft) => {
        const known = new Set(draft.lines.flatMap(({ messageIds }) => messageIds));
        const fresh = lines.filter(({ messageIds }) => !messageIds.some((id) => known.has(id)));
        draft.lines = [...draft.lines, ...fresh.map(cut)].sort(byTime).slice(-MOST_LINES);
        if (seenId !== undefined && compareIds(seenId, draft.seenId) > 0) draft.seenId = seenId;
      });
    },
    async fold(channelId, from, chapters) {
      const folded = new Set(from.lines.map(keyOf));
      await collection.of(channelId).update((draft) => {
        const texts = textsOf(draft.lines);
        const isAsRead = from.lines.every((line) => texts.get(keyOf(line)) === line.text);
        const told = sinceCleared(draft).chapters;
        if (!isAsRead || JSON.stringify(told) !== JSON.stringify(from.chapters)) return;
        draft.lines = draft.lines.filter((line) => !folded.has(keyOf(line)));
        draft.chapters = [...draft.chapters.filter((chapter) => !told.includes(chapter)), ...chapters];
      });
    },
    async stand(channelId, lines) {
      const there = await collection.of(channelId).get();
      const texts = textsOf(there.lines);
      const isSummarised = (id: string) => there.chapters.some((chapter) => covers(chapter, id));
      // What came by slash command has no message that could be edited, and cannot be found in a chapter.
      return lines.every(
        ({ messageIds: [id], text }) =>
          id === undefined || texts.get(id) === text || (!texts.has(id) && isSummarised(id)),
      );
    },
    async forgetMessages(channelId, messageIds) {
      const ids = new Set(messageIds);
      const isGone = (id: string) => ids.has(id);
      await ofThoseThatAre(
        channelId,
        ({ lines, chapters }) =>
          chapters.some((chapter) => messageIds.some((id) => covers(chapter, id))) ||
          lines.some((line) => line.messageIds.some(isGone)),
        (draft) => {
          draft.lines = draft.lines.filter((line) => !line.messageIds.some(isGone));
          draft.chapters = [...withoutMessages(draft.chapters, messageIds, false)];
        },
      );
    },
    async edit(channelId, messageId, text) {
      const isIt = (line: Line) => line.userId !== null && line.messageIds.includes(messageId);
      const { lines, chapters } = await collection.of(channelId).get();
      const known = lines.filter(isIt);
      if (known.length > 0 && known.every((line) => line.text === cut({ ...line, text }).text)) return undefined;
      const edited = { before: known[0]?.text };
      if (known.length === 0 && !chapters.some((chapter) => covers(chapter, messageId))) return edited;
      await collection.of(channelId).update((draft) => {
        draft.lines = draft.lines.map((line) => (isIt(line) ? cut({ ...line, text }) : line));
        draft.chapters = [...withoutMessages(draft.chapters, [messageId], true)];
      });
      return edited;
    },
    async clear(channelId, seenId) {
      if (seenId === undefined) await collection.of(channelId).delete();
      else await collection.of(channelId).set({ lines: [], chapters: [], seenId, clearedAt: 0 });
    },
    async putAside(channelId, seenId) {
      let before = 0;
      await collection.of(channelId).update((draft) => {
        before = draft.clearedAt;
        draft.clearedAt = Math.max(before, ...[...draft.lines, ...draft.chapters].map(({ at }) => at));
        if (compareIds(seenId, draft.seenId) > 0) draft.seenId = seenId;
      });
      return before;
    },
    async bringBack(channelId, clearedAt) {
      await collection.of(channelId).update((draft) => {
        draft.clearedAt = clearedAt;
      });
    },
    channels: () => keysOf(collection),
    async export(userId) {
      const found: Record<string, readonly Line[]> = {};
      for await (const [channelId, { lines }] of collection.entries()) {
        const theirs = lines.filter((line) => line.userId === userId);
        if (theirs.length > 0) found[channelId] = theirs;
      }
      return found;
    },
    async forget(userId) {
      const isOfThem = (line: Line) => line.userId === userId || line.answers === userId;
      for await (const [channelId] of collection.entries()) {
        await ofThoseThatAre(
          channelId,
          ({ lines, chapters }) => chapters.some(({ userIds }) => userIds.includes(userId)) || lines.some(isOfThem),
          (draft) => {
            draft.lines = draft.lines.filter((line) => !isOfThem(line));
            draft.chapters = [...withoutUser(draft.chapters, userId)];
          },
        );
      }
    },
  };
}

function sinceCleared(all: Conversation): Conversation {
  const { lines, chapters, clearedAt } = all;
  if (clearedAt === 0) return all;
  const isSince = ({ at }: { readonly at: number }) => at > clearedAt;
  return { ...all, lines: lines.filter(isSince), chapters: chapters.filter(isSince) };
}

/** Of the same moment, by id. */
function byTime(a: Line, b: Line): number {
  const [idA, idB] = [a.messageIds[0], b.messageIds[0]];
  return a.at - b.at || (idA === undefined || idB === undefined ? 0 : compareIds(idA, idB));
}

function cut(line: Line): Line {
  return line.text.length <= MOST_CHARACTERS ? line : { ...line, text: `${line.text.slice(0, MOST_CHARACTERS)}…` };
}

function keyOf({ messageIds, at, text }: Line): string {
  return messageIds[0] ?? `${at}:${text}`;
}

function textsOf(lines: readonly Line[]): ReadonlyMap<string, string> {
  return new Map(lines.map((line) => [keyOf(line), line.text]));
}

/** The keys of all documents of a collection. */
export async function keysOf<T>(collection: Collection<T, 'channel'>): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const [key] of collection.entries()) keys.push(key);
  return keys;
}
