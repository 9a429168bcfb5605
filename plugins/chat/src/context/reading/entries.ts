import { isUnfinishedPart } from '@cinnabar/sdk';
import type { HistoryMessage } from '../../history/types.js';

/** What one participant says in one go: a message, or the messages in which a bot gave one answer. Windows begin and end between entries. */
export interface Entry {
  readonly messages: readonly [HistoryMessage, ...HistoryMessage[]];
  readonly own: boolean;
  readonly lastId: string;
}

/**
 * Groups what a bot said in one go. The parts of one answer are one entry, where the first of them stands, whatever others said meanwhile; and
 * so are the bot's own messages that follow one another, unless a tool was called between them.
 */
export function toEntries(messages: readonly HistoryMessage[], calledAfter: ReadonlySet<string>): readonly Entry[] {
  const entries: Entry[] = [];
  /** Index of the entry with a bot's answer that goes on, by speaker. */
  const unfinished = new Map<string, number>();
  for (const message of messages) {
    const { author, id } = message;
    const begun = goesOnWith(message) ? unfinished.get(author.speaker) : undefined;
    const previous = entries.at(-1);
    const follows = author.self && previous?.own === true && !calledAfter.has(previous.lastId);
    const index = begun ?? (follows ? entries.length - 1 : entries.length);
    const entry = entries[index];
    if (entry === undefined) entries.push({ messages: [message], own: author.self, lastId: id });
    else entries[index] = { messages: [...entry.messages, message], own: entry.own, lastId: id };
    if (isUnfinishedPart(message)) unfinished.set(author.speaker, index);
    else unfinished.delete(author.speaker);
  }
  return entries;
}

/** Where an answer broke off after a part, what follows is not taken for the rest of it: only first parts are replies. */
function goesOnWith({ replyTo }: HistoryMessage): boolean {
  return replyTo === null;
}

export function countMessages(entries: readonly Entry[]): number {
  return entries.reduce((sum, { messages }) => sum + messages.length, 0);
}

/** Index of the entry that starts with this message, else of the first later one; -1 when there is none. */
export function indexOfMessage(entries: readonly Entry[], id: string): number {
  const exact = entries.findIndex(({ messages }) => messages.some((message) => message.id === id));
  return exact >= 0 ? exact : entries.findIndex(({ messages }) => isLater(messages[0].id, id));
}

/** Orders snowflakes: a longer number is a later one. */
export function isLater(id: string, than: string): boolean {
  return id.length === than.length ? id > than : id.length > than.length;
}
