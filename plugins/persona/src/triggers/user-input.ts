import { type PersonaTrigger, sanitizeName, type Turn, withoutNotes } from '@cinnabar/sdk';
import type { Message } from 'discord.js';
import type { Line } from '../conversation/schema.js';
import { extrasOf } from '../conversation/spoken.js';

/** Somebody says something to the persona. */
export function userInput({ user, member, message, text }: Turn, now: number): PersonaTrigger {
  const displayName = member?.displayName ?? user.displayName;
  return {
    type: 'user_input',
    content: heard(text, message),
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
    text: heard(text, message),
    at: message?.createdTimestamp ?? now,
    ...(message === null ? {} : extrasOf(message)),
  };
}

function heard(text: string, message: Message | null): string {
  if (text.trim() !== '') return withoutNotes(text);
  return message !== null && message.attachments.size > 0 ? '' : '[calls me without a word]';
}
