import type { Message } from 'discord.js';

/** What a message says, with its attachments by name and address. */
export function wordsIn({ content, attachments }: Pick<Message, 'content' | 'attachments'>): string {
  const files = [...attachments.values()].map(
    ({ name, contentType, size, url }) =>
      `[attachment ${name}, ${contentType ?? 'unknown type'}, ${size} bytes: ${url}]`,
  );
  return [content.trim(), ...files].filter((part) => part !== '').join('\n');
}
