import {
  type ContentBlock,
  compareIds,
  inNote,
  isDotMessage,
  isNotice,
  isUnfinishedPart,
  type ParticipantMessage,
  sanitizeName,
  type TextFile,
  type ToolResultContent,
  type ToolUseContent,
  withoutNoticeMark,
} from '@cinnabar/sdk';
import type { CachedImage, HistoryAttachment, HistoryMessage } from '../history/types.js';
import type { MentionNames, ToolRecord } from './types.js';

import { estimateMessage } from './window.js';

/** One message of the request, with what is needed to count and compare it. */
export interface Line {
  readonly message: ParticipantMessage;
  readonly own: boolean;
  readonly tokens: number;
  /** Changes whenever the message changes. */
  readonly signature: string;
}

interface TranscriptInput {
  readonly entries: readonly Entry[];
  readonly records: readonly ToolRecord[];
  readonly images: Shown<CachedImage>;
  readonly textFiles: Shown<TextFile>;
  readonly self: { readonly id: string; readonly name: string };
  readonly names: ReadonlyMap<string, string>;
  readonly mentions: MentionNames | undefined;
  /** The text of a message, which may differ from the typed one. */
  content(message: HistoryMessage): string;
}

/** The entries as the model reads them, with tool calls at their places. Each line depends only on the entries up to it. */
export function toLines(parts: TranscriptInput): readonly Line[] {
  const { entries, images, textFiles, self, names } = parts;
  const calls = placeRecords(parts.records, entries);
  const heard = new Set<string>();
  const userName = (id: string) => (id === self.id ? self.name : names.get(id));
  const wording: Wording = {
    said: (message) => readable(parts.content(message), userName, parts.mentions),
    nameOf: (speaker) => (speaker === self.id ? self.name : heard.has(speaker) ? names.get(speaker) : undefined),
    isShown: (attachment, message) => images.size > 0 && images.has(attachmentKey(message, attachment)),
    textIn: (attachment, message) =>
      textFiles.size === 0 ? undefined : textFiles.get(attachmentKey(message, attachment)),
  };
  const lines: Line[] = [];
  let previous: HistoryMessage | undefined;
  for (const [index, entry] of entries.entries()) {
    const line = spoken(entry, textOf(entry, previous, wording), parts);
    if (line !== undefined) lines.push(line);
    for (const message of callsAndResults(calls.get(index) ?? [], self.name)) lines.push(callLine(message));
    previous = entry.messages.at(-1);
    if (!entry.own) heard.add(entry.messages[0].author.speaker);
  }
  return lines;
}

function spoken(entry: Entry, text: string, { images, self, names }: TranscriptInput): Line | undefined {
  const [message] = entry.messages;
  const shown = entry.own || images.size === 0 ? [] : imagesOf(message, images);
  if (text === '' && shown.length === 0) return undefined;
  const content: ContentBlock[] = text === '' ? [] : [{ type: 'text', text }];
  let signature = text;
  for (const { key, block } of shown) {
    content.push(block);
    signature += `\u0000${key}`;
  }
  const participant = entry.own ? self.name : (names.get(message.author.speaker) ?? 'someone');
  const written = { participant, content, timestamp: new Date(message.createdAt), messageId: entry.lastId };
  return {
    message: written,
    own: entry.own,
    tokens: estimateMessage(written),
    signature: `${participant}\u0000${signature}`,
  };
}

function imagesOf(message: HistoryMessage, images: Shown<CachedImage>) {
  return message.attachments.flatMap((attachment) => {
    const key = attachmentKey(message, attachment);
    const image = images.get(key);
    if (image === undefined) return [];
    const source = { type: 'base64' as const, data: image.base64, mediaType: image.mediaType };
    return [{ key: `${key}:${image.sizeBytes}`, block: { type: 'image' as const, source } }];
  });
}

function callLine(message: ParticipantMessage): Line {
  return { message, own: true, tokens: estimateMessage(message), signature: JSON.stringify(message.content) };
}

/** Functions that make the text of an entry. */
interface Wording {
  /** The text without the command, with names for mentions and other markup. */
  said(message: HistoryMessage): string;
  /** The name of a speaker of an earlier message; `undefined` for others. */
  nameOf(speaker: string): string | undefined;
  isShown(attachment: HistoryAttachment, message: HistoryMessage): boolean;
  /** The content of an attached text file; `undefined` if it is not shown. */
  textIn(attachment: HistoryAttachment, message: HistoryMessage): TextFile | undefined;
}

/** The text of an entry; empty when there is none. */
function textOf(entry: Entry, previous: HistoryMessage | undefined, wording: Wording): string {
  const [message] = entry.messages;
  if (entry.own) return ownText(entry, wording);
  const notes = entry.messages.flatMap((part) => notesOn(part, wording));
  return lines([joinedText(entry, wording), ...notes, replyNote(message, previous, wording)]);
}

/** The bot's own text has no notes, which the model would imitate. */
function ownText(entry: Entry, wording: Wording): string {
  const said = joinedText(entry, wording);
  return said === '' ? lines(entry.messages.flatMap((message) => notesOn(message, wording))) : said;
}

/** Joins the messages of an answer. Most parts of a divided answer end with a line break; consecutive messages of a bot are joined by a space. */
function joinedText({ messages }: Entry, wording: Wording): string {
  if (messages.length === 1) return withoutNoticeMark(wording.said(messages[0]));
  let said = '';
  let goesOn = false;
  for (const message of messages) {
    const text = withoutNoticeMark(wording.said(message)).trim();
    if (text !== '') said += said === '' ? text : `${goesOn && !ENDS_IN_SENTENCE.test(said) ? '\n' : ' '}${text}`;
    goesOn = isUnfinishedPart(message);
  }
  return said;
}
/** Matches a part that was cut within a line. */
const ENDS_IN_SENTENCE = /[\p{L}\p{N},;]$/u;

const MAX_NOTE = 200;

function notesOn(message: HistoryMessage, { isShown, textIn }: Wording): readonly string[] {
  const files = message.attachments
    .filter((attachment) => !isShown(attachment, message))
    .flatMap((attachment) => fileLines(attachment, textIn(attachment, message)));
  return [...files, ...message.extras];
}

/** The lines of an attached text file. Its author wrote the text: only the notes around it, which only the host can write, distinguish it from the message. */
function fileLines({ name, contentType, sizeBytes }: HistoryAttachment, file: TextFile | undefined): readonly string[] {
  const about = `attachment: ${inNote(name, MAX_NOTE)}, ${inNote(contentType ?? 'file', MAX_NOTE)}, ${sizeText(sizeBytes)}`;
  if (file === undefined) return [`[${about}]`];
  const end = file.cut ? 'end of what is shown of the attachment, which is longer' : 'end of the attachment';
  return [`[${about}. Its text:]`, file.text, `[${end}]`];
}

/** A note about the message that is replied to; none if it is the message above, as for most replies. */
function replyNote({ replyTo }: HistoryMessage, previous: HistoryMessage | undefined, { nameOf }: Wording): string {
  if (replyTo === null || replyTo.messageId === previous?.id) return '';
  const name = replyTo.speaker === null ? undefined : nameOf(replyTo.speaker);
  return name === undefined ? '[in reply to an earlier message]' : `[in reply to ${name}]`;
}

function lines(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}

function sizeText(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** One contribution of a participant: a message, or the messages in which a bot gave one answer. Windows begin and end between entries. */
export interface Entry {
  readonly messages: readonly [HistoryMessage, ...HistoryMessage[]];
  readonly own: boolean;
  readonly lastId: string;
}

/**
 * Groups messages into entries. The parts of one answer of a bot are one entry, at the place of the first, whatever others wrote in between. Consecutive
 * messages of the bot itself are one entry, too, unless a tool was called between them.
 */
export function toEntries(messages: readonly HistoryMessage[], calledAfter: ReadonlySet<string>): readonly Entry[] {
  const entries: Entry[] = [];
  /** Index of the entry with a bot's unfinished answer, by speaker. */
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

/** Whether a message can continue an answer. Only the first part of an answer is a reply, so a later reply begins another one. */
function goesOnWith({ replyTo }: HistoryMessage): boolean {
  return replyTo === null;
}

export function countMessages(entries: readonly Entry[]): number {
  return entries.reduce((sum, { messages }) => sum + messages.length, 0);
}

/** Index of the entry that starts with this message, otherwise of the first later one; -1 when there is none. */
export function indexOfMessage(entries: readonly Entry[], id: string): number {
  const exact = entries.findIndex(({ messages }) => messages.some((message) => message.id === id));
  return exact >= 0 ? exact : entries.findIndex(({ messages }) => compareIds(messages[0].id, id) > 0);
}

/** Longer results are cut, because they would displace the conversation. */
const MAX_RESULT_CHARACTERS = 20_000;

/**
 * Calls by the index of the entry that they follow. A call after a message that is not visible (hidden, deleted) follows the last visible one before it. Calls
 * before the first entry are left out, with their results.
 */
function placeRecords(
  records: readonly ToolRecord[],
  entries: readonly Entry[],
): ReadonlyMap<number, readonly ToolRecord[]> {
  const placed = new Map<number, ToolRecord[]>();
  if (records.length === 0) return placed;
  const indexOf = new Map<string, number>();
  for (const [index, { messages }] of entries.entries()) for (const { id } of messages) indexOf.set(id, index);
  for (const record of records) {
    const after = record.afterMessageId;
    const index = indexOf.get(after) ?? entries.findLastIndex(({ messages }) => compareIds(messages[0].id, after) <= 0);
    if (index < 0) continue;
    const there = placed.get(index);
    if (there === undefined) placed.set(index, [record]);
    else there.push(record);
  }
  return placed;
}

/** The calls of each step in one message, their results in the next. */
function callsAndResults(records: readonly ToolRecord[], participant: string): readonly ParticipantMessage[] {
  const steps = new Map<string, ToolRecord[]>();
  for (const record of records) {
    const key = record.step ?? record.callId;
    const step = steps.get(key);
    if (step === undefined) steps.set(key, [record]);
    else step.push(record);
  }
  return [...steps.values()].flatMap((step) => [
    { participant, content: step.map(toUse) },
    { participant, content: step.map(toResult) },
  ]);
}

function toUse({ callId, name, input }: ToolRecord): ToolUseContent {
  return { type: 'tool_use', id: callId, name, input };
}

function toResult({ callId, result, isError }: ToolRecord): ToolResultContent {
  const content =
    result.length <= MAX_RESULT_CHARACTERS
      ? result
      : `${result.slice(0, MAX_RESULT_CHARACTERS)}\n[… ${result.length - MAX_RESULT_CHARACTERS} more characters]`;
  return { type: 'tool_result', toolUseId: callId, content, ...(isError ? { isError: true } : {}) };
}

const SHOW = '👁️‍🗨️';
const HIDE = '🫥';
const ASIDE = '🙃';
/** Discord sometimes omits the variation selectors. */
const plain = (emoji: string) => emoji.replaceAll('\uFE0F', '');
const [show, hide, aside] = [plain(SHOW), plain(HIDE), plain(ASIDE)];

const THINKING_ONLY = /^(?:\s*<(think|thinking)>(?:(?!<\/?\1>)[\s\S])*(?:<\/\1>|$))+\s*$/;

/**
 * Whether the model sees a message. The first matching rule applies:
 * 0. `.config` and `.history`, which are for the program, are never visible;
 * 1. the question is visible;
 * 2. notices of this program, also of its other bots, are not;
 * 3. own replies without text, or with nothing but thoughts, are not, because they teach the model to say nothing; nor are own cards and shown tool output,
 * since the calls themselves are in the request;
 * 4. 👁️‍🗨️ under or in the message: visible;
 * 5. 🫥 or 🙃 under or in the message: not visible;
 * 6. members' messages that start with a dot are not.
 */
export function isVisible(message: HistoryMessage, questionId: string | null | undefined): boolean {
  if (isCommand(message.content)) return false;
  if (message.id === questionId) return true;
  if (isNotice(message) || message.author.ownWebhook === true) return false;
  if (message.card === true || (message.author.self && saysNothing(message))) return false;
  const signs = signsOf(message);
  if (signs.has(show)) return true;
  if (signs.has(hide) || signs.has(aside)) return false;
  return message.author.self || !isDotMessage(message.content);
}

const COMMAND = /^\.(?:config|history)(?![\w-])/i;

function isCommand(content: string): boolean {
  return isDotMessage(content) && COMMAND.test(content);
}

function saysNothing({ content, extras, attachments }: HistoryMessage): boolean {
  if (content.trim() === '') return extras.length === 0 && attachments.length === 0;
  return content.includes('<think') && THINKING_ONLY.test(content);
}

const NO_SIGNS: ReadonlySet<string> = new Set();
/** The first code point of each. */
const MAY_BE_SIGN = /[🙃🫥👁]/u;

function signsOf({ content, reactions }: HistoryMessage): ReadonlySet<string> {
  if (reactions.length === 0 && !MAY_BE_SIGN.test(content)) return NO_SIGNS;
  const text = plain(content);
  const inText = [show, hide, aside].filter((sign) => text.includes(sign));
  return new Set([...reactions.map(plain), ...inText]);
}

/** Mentions of users, roles and channels, emoji, times, commands. */
const MARKUP = /<(?:@!?(\d+)|@&(\d+)|#(\d+)|a?:(\w+):\d+|t:(-?\d+)(?::\w)?|\/([^:<>]+):\d+)>/g;

/** Replaces Discord's markup by what people see: the names of mentions, emoji and commands, and times. */
function readable(
  text: string,
  speakerName: (userId: string) => string | undefined,
  names: MentionNames | undefined,
): string {
  if (!text.includes('<')) return text;
  return text.replace(
    MARKUP,
    (_markup, user?: string, role?: string, channel?: string, emoji?: string, time?: string, command?: string) => {
      if (user !== undefined) return `@${speakerName(user) ?? 'someone'}`;
      if (role !== undefined) return `@${sanitizeName(names?.role(role) ?? '') || 'a role'}`;
      if (channel !== undefined) return `#${sanitizeName(names?.channel(channel) ?? '') || 'a channel'}`;
      if (emoji !== undefined) return `:${emoji}:`;
      return time === undefined ? `/${command}` : timeText(Number(time));
    },
  );
}

function timeText(seconds: number): string {
  const time = new Date(seconds * 1000);
  return Number.isNaN(time.getTime()) ? 'some time' : time.toISOString().replace(/:\d\d\.000Z$/, ' UTC');
}

/** Shown attachments by `attachmentKey`. */
export type Shown<T> = ReadonlyMap<string, T>;

export function attachmentKey(message: HistoryMessage, attachment: HistoryAttachment): string {
  return `${message.id}/${message.attachments.indexOf(attachment)}`;
}
