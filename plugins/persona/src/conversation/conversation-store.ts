import { type Collection, compareIds, z } from '@cinnabar/sdk';
import { covers, withoutMessages, withoutUser } from './chapters.js';

const line = z.object({
  /** The messages that contain the text: several for a long text, none for a slash command. */
  messageIds: z.array(z.string()),
  /** The author; `null` for the persona itself. */
  userId: z.string().nullable(),
  /** The author of the message that the persona answered; deleting that user's data deletes this line, too. */
  answers: z.string().exactOptional(),
  /** The names at that time. They do not identify a member, since any other member can choose the same. */
  displayName: z.string(),
  username: z.string(),
  text: z.string(),
  at: z.number(),
  /** The message that it replies to. */
  replyTo: z.string().exactOptional(),
  /** The attachments: name, type and size. */
  files: z.array(z.string()).exactOptional(),
  /** A deferred tool call of the persona; its state is read from the ledger. */
  callId: z.string().optional(),
});
export type Line = z.output<typeof line>;

const part = z.object({
  /** 1 for a summary of lines; higher for a summary of chapters of the level below. */
  level: z.number().int(),
  /** Empty when a message of it was deleted or edited: then the summary has to be rewritten. */
  text: z.string(),
  /** The summarised messages; empty when there are too many, then all from `first` to `last` count. */
  messageIds: z.array(z.string()),
  first: z.string(),
  last: z.string(),
  userIds: z.array(z.string()),
  /** The time of its latest message, in ms since the epoch. */
  at: z.number(),
});
export type Part = z.output<typeof part>;

/** A summary of a part of the conversation in a few sentences. Stores its parts of the level below, so that one part can be removed without the others. */
const chapter = part.extend({ parts: z.array(part).default([]) });
export type Chapter = z.output<typeof chapter>;

const conversation = z.object({
  /** Oldest first. */
  lines: z.array(line).default([]),
  /** The earlier conversation, oldest first. */
  chapters: z.array(chapter).default([]),
  /** The newest message that was read. */
  seenId: z.string().default('0'),
  /** The time of the latest line that a reset set aside: lines and chapters up to it are left out of prompts until an undo. */
  clearedAt: z.number().default(0),
});
export type Conversation = z.output<typeof conversation>;

const before = z.looseObject({
  summary: z.object({ text: z.string(), messageIds: z.array(z.string()), userIds: z.array(z.string()) }).optional(),
});

/** Version 1 had one summary of the whole conversation. */
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

/** Limit for lines between two summaries in a busy channel. */
const MOST_LINES = 300;
const MOST_CHARACTERS = 4_000;

/** The messages to a persona and by it, by channel. */
export function createConversationStore(collection: ConversationCollection) {
  const updateIf = async (
    channelId: string,
    isAffected: (there: Conversation) => boolean,
    change: (draft: Conversation) => void,
  ) => {
    const there = await collection.of(channelId).find();
    if (there !== undefined && isAffected(there)) await collection.of(channelId).update(change);
  };

  return {
    /** The lines and chapters since the last reset. */
    read: async (channelId: string): Promise<Conversation> => sinceCleared(await collection.of(channelId).get()),
    /** Includes lines and chapters that a reset has set aside. */
    readAll: (channelId: string): Promise<Conversation> => collection.of(channelId).get(),
    /** Adds lines whose messages are not stored yet, sorted by time. */
    async add(channelId: string, lines: readonly Line[], seenId?: string): Promise<void> {
      await collection.of(channelId).update((draft) => {
        const known = new Set(draft.lines.flatMap(({ messageIds }) => messageIds));
        const fresh = lines.filter(({ messageIds }) => !messageIds.some((id) => known.has(id)));
        draft.lines = [...draft.lines, ...fresh.map(cut)].sort(byTime).slice(-MOST_LINES);
        if (seenId !== undefined && compareIds(seenId, draft.seenId) > 0) draft.seenId = seenId;
      });
    },
    /** Replaces summarised lines and chapters by new chapters; changes nothing if any of them was edited or deleted meanwhile. */
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
    /** Whether these lines still exist: unchanged, or summarised in a chapter; not edited, deleted or cleared since they were read. */
    async stand(channelId: string, lines: readonly Line[]): Promise<boolean> {
      const there = await collection.of(channelId).get();
      const texts = textsOf(there.lines);
      const isSummarised = (id: string) => there.chapters.some((chapter) => covers(chapter, id));
      // A line of a slash command has no message that could be edited or that a chapter could list.
      return lines.every(
        ({ messageIds: [id], text }) =>
          id === undefined || texts.get(id) === text || (!texts.has(id) && isSummarised(id)),
      );
    },
    /** Deletes the lines of deleted messages, and the summaries that contain them. */
    async forgetMessages(channelId: string, messageIds: readonly string[]): Promise<void> {
      const ids = new Set(messageIds);
      const isGone = (id: string) => ids.has(id);
      await updateIf(
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
    /** Stores the new text of a message. Resolves with its earlier text, if known; `undefined` when the stored text is the same already. */
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
    /** Deletes lines and chapters. Messages up to `seenId` are not read again. */
    async clear(channelId: string, seenId?: string): Promise<void> {
      if (seenId === undefined) await collection.of(channelId).delete();
      else await collection.of(channelId).set({ lines: [], chapters: [], seenId, clearedAt: 0 });
    },
    /** Sets lines and chapters aside. Messages up to `seenId` are not read again. Resolves with the `clearedAt` for `bringBack`. */
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
        await updateIf(
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
