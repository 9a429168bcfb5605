import { isNotice, type Turn } from '@cinnabar/sdk';
import type { Question } from '../../context/types.js';
import { toHeld } from '../../history/convert/message.js';
import { compareIds } from '../../history/snowflake.js';
import type { HistoryMessage, HistoryWindow } from '../../history/types.js';

/**
 * The window as it was when the turn was handed over: what others have written after it is left for turns of their own.
 * What the bot itself has said since belongs to what came before.
 */
export function upTo(window: HistoryWindow, turn: Turn): HistoryWindow {
  const { message } = turn;
  if (message === null) return window;
  // An `m` command is no part of the conversation.
  const command = isWordless(turn) ? message.id : undefined;
  const messages = window.messages.filter(
    ({ id, author }) => id !== command && (author.self || compareIds(id, message.id) <= 0),
  );
  return { ...window, messages };
}

/** With the questions that are answered together, where one of the askers may not read the history and so it is empty. */
export function withEarlier(window: HistoryWindow, { earlier }: Turn): HistoryWindow {
  if (window.messages.length > 0) return window;
  return {
    ...window,
    messages: earlier.flatMap(({ message }) => (message === null ? [] : toHeld(message).message)),
  };
}

/**
 * What is asked. It stands in the window already, unless it came by slash command; but when the bot has answered others since, the window
 * ends with that answer, and so it is repeated at the end.
 */
export function questionOf(turn: Turn, { messages }: HistoryWindow): Question | undefined {
  if (isWordless(turn)) return undefined;
  const { message, text } = turn;
  const speaker = speakerOf(turn);
  const isLast = message !== null && lastHeard(messages)?.id === message.id;
  return { messageId: isLast ? message.id : null, speaker, text };
}

export function speakerOf({ user, member }: Turn): Question['speaker'] {
  return { id: user.id, displayName: member?.displayName ?? user.displayName, username: user.username };
}

/** `m activate` and `m continue` ask for nothing but to go on. */
function isWordless({ trigger }: Turn): boolean {
  return trigger === 'activate' || trigger === 'continue';
}

function lastHeard(messages: readonly HistoryMessage[]): HistoryMessage | undefined {
  return messages.findLast(
    (message) => message.card !== true && message.author.ownWebhook !== true && !isNotice(message),
  );
}

/** `!ai Hello` was said as `Hello`. */
export function commandRemover(prefixes: readonly string[]): (content: string) => string {
  return (content) => {
    const prefix = prefixes.find((candidate) => content.startsWith(candidate));
    const command = prefix === undefined ? null : /^\s*ai\s+/i.exec(content.slice(prefix.length));
    return content.slice(command === null ? 0 : (prefix?.length ?? 0) + command[0].length);
  };
}
