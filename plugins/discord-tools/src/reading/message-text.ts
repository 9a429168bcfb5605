import type { MessageView } from './message.js';
import { nameText } from './names.js';

/**
 * Messages for people and models. What members wrote stands behind `> ` on every line, so that nothing in it can pose as a line of the
 * result: as the beginning of another message, or an author.
 */

export function messagesText(messages: readonly MessageView[]): string {
  return messages.map(messageText).join('\n\n');
}

/** What a heading and a note of a result need beside the messages. */
const BESIDE = 600;

/**
 * As many of the messages, in their order, as fit into a result of `most` characters: from the end (the newest of messages that are oldest first)
 * or from the beginning. At least one.
 */
export function fitting(
  messages: readonly MessageView[],
  most: number,
  from: 'end' | 'beginning',
): readonly MessageView[] {
  const ordered = from === 'end' ? [...messages].reverse() : messages;
  let left = most - BESIDE;
  let count = 0;
  for (const message of ordered) {
    left -= messageText(message).length + 2;
    if (left < 0 && count > 0) break;
    count += 1;
  }
  return from === 'end' ? messages.slice(messages.length - count) : messages.slice(0, count);
}

export function messageText(message: MessageView): string {
  const lines = [heading(message)];
  if (message.content !== '') lines.push(quoted(message.content));
  if (message.forwarded !== undefined) lines.push('forwarded:', quoted(message.forwarded));
  for (const { name, bytes, type, url } of message.attachments) {
    lines.push(`attachment ${nameText(name)} · ${typeText(type)} · ${sizeText(bytes)} · ${url}`);
  }
  for (const embed of message.embeds) lines.push('embed:', quoted(embedText(embed)));
  if (message.reactions.length > 0) {
    lines.push(`reactions ${message.reactions.map(({ emoji, count }) => `${emoji} ${count}`).join(', ')}`);
  }
  return lines.join('\n');
}

function heading(message: MessageView): string {
  const { author } = message;
  const facts = [
    `${nameText(author.name)} (${author.kind} ${author.id})`,
    `message ${message.id}`,
    message.createdAt,
    ...(message.editedAt === undefined ? [] : ['edited']),
    ...(message.replyTo === undefined ? [] : [`reply to ${message.replyTo}`]),
    ...(message.threadId === undefined ? [] : [`thread ${message.threadId}`]),
    ...(message.notice === true ? ['a notice of the bot about itself, not shown'] : []),
    ...(message.aside === true ? ['said past the bots, not shown'] : []),
    ...(message.pinned ? ['pinned'] : []),
    ...(message.system === undefined ? [] : [message.system]),
  ];
  return facts.join(' · ');
}

/** Everything at which something that shows text may begin a new line. */
const LINE_END = /\r\n|[\n\r\v\f\x85\u2028\u2029]/g;

export function quoted(text: string): string {
  return text
    .split(LINE_END)
    .map((line) => `> ${line}`)
    .join('\n');
}

function embedText({ title, description, url, fields }: MessageView['embeds'][number]): string {
  const parts = [title, url, description, ...fields.map(({ name, value }) => `${name}: ${value}`)];
  return parts.filter((part) => part !== null && part !== '').join('\n');
}

/** Some are whatever the sender's application has said. */
function typeText(type: string | null): string {
  return type?.match(/^[\w.+-]+\/[\w.+-]+/)?.[0] ?? 'unknown type';
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
