import type { Collection } from '@cinnabar/sdk';
import { keysOf } from '../state/keys.js';
import { type Conversation, conversation, type Line, NO_SUMMARY, type Summary } from './schema.js';
import { compareIds } from './snowflake.js';

/** To be declared among the plugin's collections. */
export const conversations = { scope: 'channel', version: 1, schema: conversation } as const;
export type ConversationCollection = Collection<Conversation, 'channel'>;

/** What was said to a persona and by it, channel by channel. */
export interface ConversationStore {
  read(channelId: string): Promise<Conversation>;
  /** Adds what is not there yet, in the order of time. */
  add(channelId: string, lines: readonly Line[], seenId?: string): Promise<void>;
  /** Puts a summary in the place of what it was made from, unless any of that has been edited or deleted meanwhile. */
  fold(channelId: string, from: Pick<Conversation, 'lines' | 'summary'>, summary: Summary): Promise<void>;
  /** Whether these lines are still there, word for word or in the summary: not edited, deleted or cleared since they were read. */
  stand(channelId: string, lines: readonly Line[]): Promise<boolean>;
  /** Messages were deleted: what was said in them, and what was made of that, goes. */
  forgetMessages(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** Says whether that is news: `false` where the message is known to say just that. */
  edit(channelId: string, messageId: string, text: string): Promise<boolean>;
  /** Forgets all of it; what was said up to `seenId` is not looked at again. */
  clear(channelId: string, seenId?: string): Promise<void>;
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
    read: (channelId) => collection.of(channelId).get(),
    async add(channelId, lines, seenId) {
      await collection.of(channelId).update((draft) => {
        const known = new Set(draft.lines.flatMap(({ messageIds }) => messageIds));
        const fresh = lines.filter(({ messageIds }) => !messageIds.some((id) => known.has(id)));
        draft.lines = [...draft.lines, ...fresh.map(cut)].sort(byTime).slice(-MOST_LINES);
        if (seenId !== undefined && compareIds(seenId, draft.seenId) > 0) draft.seenId = seenId;
      });
    },
    async fold(channelId, from, summary) {
      const folded = new Set(from.lines.map(keyOf));
      await collection.of(channelId).update((draft) => {
        const texts = textsOf(draft.lines);
        const isAsRead = from.lines.every((line) => texts.get(keyOf(line)) === line.text);
        if (draft.summary.text !== from.summary.text || !isAsRead) return;
        draft.lines = draft.lines.filter((line) => !folded.has(keyOf(line)));
        draft.summary = summary;
      });
    },
    async stand(channelId, lines) {
      const there = await collection.of(channelId).get();
      const texts = textsOf(there.lines);
      const summarised = new Set(there.summary.messageIds);
      // What came by slash command has no message that could be edited, and cannot be found in a summary.
      return lines.every(
        ({ messageIds: [id], text }) =>
          id === undefined || texts.get(id) === text || (!texts.has(id) && summarised.has(id)),
      );
    },
    async forgetMessages(channelId, messageIds) {
      const ids = new Set(messageIds);
      const isGone = (id: string) => ids.has(id);
      await ofThoseThatAre(
        channelId,
        ({ lines, summary }) => summary.messageIds.some(isGone) || lines.some((line) => line.messageIds.some(isGone)),
        (draft) => {
          draft.lines = draft.lines.filter((line) => !line.messageIds.some(isGone));
          if (draft.summary.messageIds.some(isGone)) draft.summary = NO_SUMMARY;
        },
      );
    },
    async edit(channelId, messageId, text) {
      const isIt = (line: Line) => line.userId !== null && line.messageIds.includes(messageId);
      const { lines, summary } = await collection.of(channelId).get();
      const known = lines.filter(isIt);
      if (known.length > 0 && known.every((line) => line.text === cut({ ...line, text }).text)) return false;
      if (known.length === 0 && !summary.messageIds.includes(messageId)) return true;
      await collection.of(channelId).update((draft) => {
        draft.lines = draft.lines.map((line) => (isIt(line) ? cut({ ...line, text }) : line));
        if (draft.summary.messageIds.includes(messageId)) draft.summary = NO_SUMMARY;
      });
      return true;
    },
    async clear(channelId, seenId) {
      if (seenId === undefined) await collection.of(channelId).delete();
      else await collection.of(channelId).set({ lines: [], summary: NO_SUMMARY, seenId });
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
          ({ lines, summary }) => summary.userIds.includes(userId) || lines.some(isOfThem),
          (draft) => {
            draft.lines = draft.lines.filter((line) => !isOfThem(line));
            if (draft.summary.userIds.includes(userId)) draft.summary = NO_SUMMARY;
          },
        );
      }
    },
  };
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
