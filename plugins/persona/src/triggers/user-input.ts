import { type PersonaTrigger, sanitizeName, type Turn, withoutNotes } from '@cinnabar/sdk';
import type { Line } from '../conversation/schema.js';

/** Somebody says something to the persona. */
export function userInput({ user, member, message, text }: Turn, now: number): PersonaTrigger {
  const displayName = member?.displayName ?? user.displayName;
  return {
    type: 'user_input',
    content: heard(text),
    at: message?.createdTimestamp ?? now,
    speaker: { userId: user.id, name: sanitizeName(displayName) || sanitizeName(user.username) || 'someone' },
    messageId: message?.id ?? null,
  };
}

/** The same as a line of the conversation. */
export function lineOfTurn({ user, member, message, text }: Turn, now: number): Line {
  return {
    messageIds: message === null ? [] : [message.id],
    userId: user.id,
    displayName: member?.displayName ?? user.displayName,
    username: user.username,
    text: heard(text),
    at: message?.createdTimestamp ?? now,
  };
}

const heard = (text: string) => (text.trim() === '' ? '[calls me without a word]' : withoutNotes(text));
