import { type Collection, compareIds, z } from '@cinnabar/sdk';
import { covers, withoutMessages, withoutUser } from './chapters.js';

const line = z.object({
  /** The messages with the text; several for a long one, none for a slash command. */
  messageIds: z.array(z.string()),
  /** The author; `null`: the persona itself. */
  userId: z.string().nullable(),
  /** The author of the message that the persona answered: both are deleted together. */
  answers: z.string().exactOptional(),
  /** As they were called then; never to be trusted. */
  displayName: z.string(),
  username: z.string(),
  text: z.string(),
  at: z.number(),
  /** The message that it replies to. */
  replyTo: z.string().exactOptional(),
  /** The attachments: name, type and size. */
  files: z.array(z.string()).exactOptional(),
  /** A tool call that the persona made: its end is looked up. */
  callId: z.string().optional(),
});
export type Line = z.output<typeof line>;

const part = z.object({
  /** 1: the summary of lines; above that, of chapters of the level below. */
  level: z.number().int(),
  /** Empty: something that it was made from has gone, and it has to be written anew. */
  text: z.string(),
  /** The messages that it was made from; empty where there are too many, then those from the first to the last count. */
  messageIds: z.array(z.string()),
  first: z.string(),
  last: z.string(),
  userIds: z.array(z.string()),
  /** When the latest of it was said. */
  at: z.number(),
});
export type Part = z.output<typeof part>;

/** A stretch of the conversation in a few sentences. It keeps what it was made from, one level down: when a part of it has to go, the others stay. */
const chapter = part.extend({ parts: z.array(part).default([]) });
export type Chapter = z.output<typeof chapter>;

const conversation = z.object({
  /** Oldest first. */
  lines: z.array(line).default([]),
  /** The earlier conversation, oldest first. */
  chapters: z.array(chapter).default([]),
  /** The newest message that has been looked at. */
  seenId: z.string().default('0'),
  /** A reset put aside what was said up to then: it is not told, and can be brought back. */
  clearedAt: z.number().default(0),
});
export type Conversation = z.output<typeof conversation>;

const before = z.looseObject({
  summary: z.object({ text: z.string(), messageIds: z.array(z.string()), userIds: z.array(z.string()) }).optional(),
});

/** Version 1 had one summary of everything. */
function withChapters(document: unknown): unknown {
  const { summary, ...rest } = before.parse(document);
  if (summary === undefined || summary.text === '') return rest;
  const { text, messageIds, userIds } = summary;
  const [first = '0', last = first] = [messageIds[0], messageIds.at(-1)];
  return { ...rest, chapters: [{ level: 2, text, messageIds, first, last, userIds, at: 0, parts: [] }] };
}

/** To be declared among the plugin's collections. */
export const conversations = {
  scope: 'channel',
  version: 2,
  schema: conversation,
  migrations: { 2: withChapters },
  personal: 'handled',
} as const;
type ConversationCollection = Collection<Conversation, 'channel'>;

export type ConversationStore = ReturnType<typeof createConversationStore>;

/** However busy a channel is between two summaries. */
const MOST_LINES = 300;
const MOST_CHARACTERS = 4_000;

/** The messages to a persona and by it, by channel. */
export function createConversationStore(collection: ConversationCollection) {
  const ofThoseThatAre = async (
    channelId: string,
    isTouched: (there: Conversation) => boolean,
    change: (draft: Conversation) => void,
  ) => {
    const there = await collection.of(channelId).find();
    if (there !== undefined && isTouched(there)) await collection.of(channelId).update(change);
  };

  return {
    /** The conversation since its last reset. */
    read: async (channelId: string): Promise<Conversation> => sinceCleared(await collection.of(channelId).get()),
    /** With what a reset has put aside. */
    readAll: (channelId: string): Promise<Conversation> => collection.of(channelId).get(),
    /** Adds what is not there yet, in the order of time. */
    async add(channelId: string, lines: readonly Line[], seenId?: string): Promise<void> {
      await collection.of(channelId).update((draft) => {
        const known = new Set(draft.lines.flatMap(({ messageIds }) => messageIds));
        const fresh = lines.filter(({ messageIds }) => !messageIds.some((id) => known.has(id)));
        draft.lines = [...draft.lines, ...fresh.map(cut)].sort(byTime).slice(-MOST_LINES);
        if (seenId !== undefined && compareIds(seenId, draft.seenId) > 0) draft.seenId = seenId;
      });
    },
    /** Puts chapters in the place of lines and chapters that they were made from, unless any of those has been edited or deleted meanwhile. */
    async fold(
      channelId: string,
      from: Pick<Conversation, 'lines' | 'chapters'>,
      chapters: readonly Chapter[],
    ): Promise<void> {
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
    /** Whether these lines are still there, word for word or in a chapter: not edited, deleted or cleared since they were read. */
    async stand(channelId: string, lines: readonly Line[]): Promise<boolean> {
      const there = await collection.of(channelId).get();
      const texts = textsOf(there.lines);
      const isSummarised = (id: string) => there.chapters.some((chapter) => covers(chapter, id));
      // A line of a slash command has no message that could be edited, and cannot be found in a chapter.
      return lines.every(
        ({ messageIds: [id], text }) =>
          id === undefined || texts.get(id) === text || (!texts.has(id) && isSummarised(id)),
      );
    },
    /** Messages were deleted: what was said in them, and what was made of that, goes. */
    async forgetMessages(channelId: string, messageIds: readonly string[]): Promise<void> {
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
    /** Resolves with what the message said before, as far as that is known; `undefined` where it is known to say just that. */
    async edit(
      channelId: string,
      messageId: string,
      text: string,
    ): Promise<{ readonly before: string | undefined } | undefined> {
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
    /** Forgets all of it for good; what was said up to `seenId` is not looked at again. */
    async clear(channelId: string, seenId?: string): Promise<void> {
      if (seenId === undefined) await collection.of(channelId).delete();
      else await collection.of(channelId).set({ lines: [], chapters: [], seenId, clearedAt: 0 });
    },
    /** Puts all of it aside; what was said up to `seenId` is not looked at again. Resolves with what `bringBack` takes. */
    async putAside(channelId: string, seenId: string): Promise<number> {
      let before = 0;
      await collection.of(channelId).update((draft) => {
        before = draft.clearedAt;
        draft.clearedAt = Math.max(before, ...[...draft.lines, ...draft.chapters].map(({ at }) => at));
        if (compareIds(seenId, draft.seenId) > 0) draft.seenId = seenId;
      });
      return before;
    },
    async bringBack(channelId: string, clearedAt: number): Promise<void> {
      await collection.of(channelId).update((draft) => {
        draft.clearedAt = clearedAt;
      });
    },
    /** Channels with stored lines. */
    channels: (): Promise<readonly string[]> => keysOf(collection),
    async export(userId: string): Promise<unknown> {
      const found: Record<string, readonly Line[]> = {};
      for await (const [channelId, { lines }] of collection.entries()) {
        const theirs = lines.filter((line) => line.userId === userId);
        if (theirs.length > 0) found[channelId] = theirs;
      }
      return found;
    },
    async forget(userId: string): Promise<void> {
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

/** Orders lines by time, and simultaneous ones by id. */
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
