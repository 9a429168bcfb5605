import { z } from '@cinnabar/sdk';
import type { Attachment, Message } from 'discord.js';
import { readId } from '../reaching/references.js';
import { viewMessage } from '../reading/message.js';

/** What Discord's own search knows: https://discord.com/developers/docs/resources/message#search-guild-messages */
export const HAS = ['link', 'embed', 'file', 'image', 'video', 'sound', 'sticker', 'poll', 'snapshot'] as const;

export const filterFields = {
  content: z.string().max(1024).optional().describe('Words that all occur; "several words" in quotes occur together'),
  authorId: z.string().max(30).optional().describe('Only messages of this user: their id'),
  mentions: z.string().max(30).optional().describe('Only messages that mention this user: their id'),
  has: z.enum(HAS).optional().describe('Only messages that have this'),
  pinned: z.boolean().optional().describe('Only messages that are pinned, or that are not'),
  authorType: z.enum(['user', 'bot', 'webhook']).optional().describe('Only messages of this kind of author'),
} as const;

export type Filter = z.output<z.ZodObject<typeof filterFields>>;

const LINK = /https?:\/\/\S/i;

const HAS_IT: Readonly<Record<(typeof HAS)[number], (message: Message) => boolean>> = {
  link: ({ content }) => LINK.test(content),
  embed: ({ embeds }) => embeds.length > 0,
  file: ({ attachments }) => attachments.size > 0,
  image: ({ attachments }) => attachments.some(isOf('image/')),
  video: ({ attachments }) => attachments.some(isOf('video/')),
  sound: ({ attachments }) => attachments.some(isOf('audio/')),
  sticker: ({ stickers }) => stickers.size > 0,
  poll: ({ poll }) => poll !== null,
  snapshot: ({ messageSnapshots }) => messageSnapshots.size > 0,
};

/** Whether a message fits, and how well: how often the words occur in it. `undefined` when it does not. */
export function createFilter(filter: Filter): (message: Message) => number | undefined {
  const words = wordsIn(filter.content ?? '');
  const author = filter.authorId === undefined ? undefined : readId(filter.authorId, 'user');
  const mentioned = filter.mentions === undefined ? undefined : readId(filter.mentions, 'user');
  return (message) => {
    if (author !== undefined && message.author.id !== author) return undefined;
    if (mentioned !== undefined && !message.mentions.users.has(mentioned)) return undefined;
    if (filter.has !== undefined && !HAS_IT[filter.has](message)) return undefined;
    if (filter.pinned !== undefined && message.pinned !== filter.pinned) return undefined;
    const view = viewMessage(message);
    if (filter.authorType !== undefined && view.author.kind !== filter.authorType) return undefined;
    const embedded = view.embeds.flatMap(({ title, description }) => [title ?? '', description ?? '']);
    const text = [view.content, view.forwarded ?? '', ...embedded].join('\n').toLowerCase();
    const counts = words.map((word) => text.split(word).length - 1);
    return counts.every((count) => count > 0) ? counts.reduce((sum, count) => sum + count, 0) : undefined;
  };
}

/** `deploy "on friday"` → `deploy`, `on friday`. */
function wordsIn(content: string): readonly string[] {
  return [...content.toLowerCase().matchAll(/"([^"]+)"|(\S+)/g)]
    .map(([, phrase, word]) => (phrase ?? word ?? '').trim())
    .filter((word) => word !== '' && word !== '"');
}

function isOf(type: string): (attachment: Attachment) => boolean {
  return ({ contentType }) => contentType?.startsWith(type) === true;
}
