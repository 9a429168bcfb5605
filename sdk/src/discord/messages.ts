import { DiscordSnowflake, Snowflake } from '@sapphire/snowflake';
import type { Message, PartialMessage } from 'discord.js';

/**
 * Whether a message was sent through a webhook, which may use any name. Answers to interactions carry a webhook's id too, but it is the
 * application's, and their author is the bot.
 */
export function isWebhookMessage({ webhookId, applicationId }: Message | PartialMessage): boolean {
  return webhookId !== null && webhookId !== applicationId;
}

/**
 * Identifies the author of a message: the id of a user; for a webhook, whose name differs by message, its id and that name as it was sent, which is not safe to
 * show.
 */
export function speakerId(message: Message): string {
  return isWebhookMessage(message) ? `${message.webhookId}/${message.author.username}` : message.author.id;
}

/** Whether a message was sent through a webhook that this bot has made: under a name of its choice. No other application can send through it. */
export function isOwnWebhookMessage(message: Message | PartialMessage): boolean {
  return isWebhookMessage(message) && message.applicationId === message.client.application.id;
}

/** Whether this bot has sent a message: under its own name, or through its own webhook. */
export function isOwnMessage(message: Message | PartialMessage): boolean {
  return message.author?.id === message.client.user.id || isOwnWebhookMessage(message);
}

/**
 * Whether a message replies to a message of this bot. A message that this bot sent through a webhook has to be in the cache, where discord.js stores the
 * messages that new ones reply to.
 */
export function repliesToOwn({ mentions, reference, channel, client }: Message): boolean {
  if (mentions.repliedUser?.id === client.user.id) return true;
  const replied = reference?.messageId === undefined ? undefined : channel.messages.cache.get(reference.messageId);
  return replied !== undefined && isOwnMessage(replied);
}

/**
 * Invisible separator, zero-width space, invisible separator. Discord keeps them, no client shows them, and texts of members and models do not end with them by
 * chance.
 */
const MARK = '\u2063\u200B\u2063';
/** A notice mark for one line of a message whose other lines were written by a model. */
const LINE_MARK = '\u2063\u2063\u200B';
/** Ends a part of an answer that continues in the next message. */
const PART_MARK = '\u2063\u200B\u200B';
const MARKS = [MARK, LINE_MARK, PART_MARK];
/** A mark directly after an address would become part of the link. */
const ENDS_WITH_ADDRESS = /:\/\/\S+$/;
/** The maximum length that a mark adds to a text. */
export const LONGEST_MARK = MARK.length + 1;

/**
 * Marks a message as a notice: a text of the program about itself (an answer to a command, a receipt, why there is no answer), and not of a model. Notices are
 * for members; no model reads them, neither this bot's nor that of another bot of this program in the same channel. The mark makes the text up to 4 characters
 * longer.
 * @example await channel.send(asNotice('I am still busy with an answer in this channel.'));
 */
export function asNotice(text: string): string {
  return marked(withoutNoticeMark(text).trimEnd(), MARK);
}

function marked(text: string, mark: string): string {
  return `${text}${ENDS_WITH_ADDRESS.test(text) ? ' ' : ''}${mark}`;
}

/** A message of discord.js, or of a stored history. */
interface MarkedMessage {
  readonly author: { readonly bot: boolean };
  readonly content: string;
}

/** Whether a message is a notice of a bot. Members cannot make one: only the messages of bots count. */
export function isNotice({ author, content }: MarkedMessage): boolean {
  return author.bot && content.endsWith(MARK);
}

/** Whether no model may read a message: a bot's notice, or a member's dot message, `.config` and `.history` among them. */
export function isForPeopleOnly(message: MarkedMessage): boolean {
  return message.author.bot ? isNotice(message) : isDotMessage(message.content);
}

/** The text without a notice mark at its end: for a text of a model or a member that the bot sends. */
export function withoutNoticeMark(text: string): string {
  return text.includes('\u2063') ? MARKS.reduce((rest, mark) => rest.replaceAll(mark, ''), text) : text;
}

/** Marks one line of a message as the program's own, when a model wrote the other lines: figures, the name of a task. */
export function noticeLine(line: string): string {
  return `${line}${LINE_MARK}`;
}

/** The content of a bot's message without the lines that `noticeLine` has marked. */
export function withoutNoticeLines(content: string): string {
  if (!content.includes(LINE_MARK)) return content;
  return content
    .split('\n')
    .filter((line) => !line.endsWith(LINE_MARK))
    .join('\n');
}

/** Marks a part of an answer as unfinished: it continues in the next message, or in this one by an edit. */
export function asUnfinishedPart(text: string): string {
  return marked(withoutNoticeMark(text).trimEnd(), PART_MARK);
}

/** Whether a bot's message is a part of an answer that continues in its next message. */
export function isUnfinishedPart({ author, content }: MarkedMessage): boolean {
  return author.bot && content.endsWith(PART_MARK);
}

/**
 * Whether a message is not for bots, by a convention of servers with several of them: it starts with a dot. No bot answers or reads it. Three dots or more are
 * an ellipsis, and the message is like any other.
 */
export function isDotMessage(content: string): boolean {
  return content.startsWith('.') && !content.startsWith('...');
}

/*
 * Ids of Discord: 64-bit numbers as decimal text, whose order is the order of creation.
 * https://discord.com/developers/docs/reference#snowflakes
 */

/** Older than every id. */
export const OLDEST_ID = '0';

/** For `sort`, the oldest first: negative when `a` is older than `b`. */
export function compareIds(a: string, b: string): -1 | 0 | 1 {
  return Snowflake.compare(a, b);
}

/** The newer of two ids. */
export function newerId(a: string, b: string): string {
  return compareIds(a, b) >= 0 ? a : b;
}

/** The older of two ids. */
export function olderId(a: string, b: string): string {
  return compareIds(a, b) <= 0 ? a : b;
}

/** The next higher id, whether or not it exists: `before: idAfter(id)` includes `id`. */
export function idAfter(id: string): string {
  return String(BigInt(id) + 1n);
}

/** The next lower id, whether or not it exists: `after: idBefore(id)` includes `id`. */
export function idBefore(id: string): string {
  return id === OLDEST_ID ? OLDEST_ID : String(BigInt(id) - 1n);
}

/** When the id was created, in milliseconds since the Unix epoch. */
export function createdAt(id: string): number {
  return DiscordSnowflake.timestampFrom(id);
}

/** The lowest id of a moment: every id created from then on is at least that high. */
export function idAt(timeMs: number): string {
  const sinceEpoch = Math.max(0, timeMs - DiscordSnowflake.epochNumber);
  return String(BigInt(Math.floor(sinceEpoch)) << 22n);
}

/** The clocks of this machine and Discord may differ by this. */
const SKEW_MS = 60_000;

/** The lowest id that Discord may have given at a moment of this machine's clock: for `sentAfter` of `sendOnce`. */
export function earliestIdAt(timeMs: number): string {
  return idAt(timeMs - SKEW_MS);
}
