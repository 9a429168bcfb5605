import type { HistoryMessage } from '../../history/types.js';

/** What one participant says in one go: a message, or several of the bot's own in a row. Windows begin and end between entries. */
export interface Entry {
  readonly messages: readonly [HistoryMessage, ...HistoryMessage[]];
  readonly own: boolean;
  readonly lastId: string;
}

/**
 * Groups the bot's own messages that follow one another: long replies are sent in parts, and what was said in one go is read in one go.
 * Own messages between which a tool was called stay apart.
 */
export function toEntries(messages: readonly HistoryMessage[], calledAfter: ReadonlySet<string>): readonly Entry[] {
  const entries: Entry[] = [];
  for (const message of messages) {
    const last = entries.at(-1);
    if (message.author.self && last?.own === true && !calledAfter.has(last.lastId)) {
      entries[entries.length - 1] = { messages: [...last.messages, message], own: true, lastId: message.id };
    } else entries.push({ messages: [message], own: message.author.self, lastId: message.id });
  }
  return entries;
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
