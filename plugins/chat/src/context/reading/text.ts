import { inNote, isUnfinishedPart, type TextFile, withoutNoticeMark } from '@cinnabar/sdk';
import type { HistoryAttachment, HistoryMessage } from '../../history/types.js';
import type { Entry } from './entries.js';

/** How an entry is put into words. */
export interface Wording {
  /** Mentions and other markup by name, the command taken off. */
  said(message: HistoryMessage): string;
  /** Of somebody who has spoken before this message. */
  nameOf(speaker: string): string | undefined;
  isShown(attachment: HistoryAttachment, message: HistoryMessage): boolean;
  /** What an attached text file says; `undefined` when it is not shown. */
  textIn(attachment: HistoryAttachment, message: HistoryMessage): TextFile | undefined;
}

/** The text of an entry; empty when there is none. */
export function textOf(entry: Entry, previous: HistoryMessage | undefined, wording: Wording): string {
  const [message] = entry.messages;
  if (entry.own) return ownText(entry, wording);
  const notes = entry.messages.flatMap((part) => notesOn(part, wording));
  return lines([saidIn(entry, wording), ...notes, replyNote(message, previous, wording)]);
}

/** Notes beside the bot's own words would teach it to write such notes. */
function ownText(entry: Entry, wording: Wording): string {
  const said = saidIn(entry, wording);
  return said === '' ? lines(entry.messages.flatMap((message) => notesOn(message, wording))) : said;
}

/** Answers that were given in parts end most parts with a line; a bot's messages that follow one another are joined by a space. */
function saidIn({ messages }: Entry, wording: Wording): string {
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
/** A part that was cut within a line. */
const ENDS_IN_SENTENCE = /[\p{L}\p{N},;]$/u;

const MAX_NOTE = 200;

function notesOn(message: HistoryMessage, { isShown, textIn }: Wording): readonly string[] {
  const files = message.attachments
    .filter((attachment) => !isShown(attachment, message))
    .flatMap((attachment) => fileLines(attachment, textIn(attachment, message)));
  return [...files, ...message.extras];
}

/** The text of a file is its author's: only the notes around it, which only the host can write, tell it from what was typed. */
function fileLines({ name, contentType, sizeBytes }: HistoryAttachment, file: TextFile | undefined): readonly string[] {
  const about = `attachment: ${inNote(name, MAX_NOTE)}, ${inNote(contentType ?? 'file', MAX_NOTE)}, ${sizeText(sizeBytes)}`;
  if (file === undefined) return [`[${about}]`];
  const end = file.cut ? 'end of what is shown of the attachment, which is longer' : 'end of the attachment';
  return [`[${about}. Its text:]`, file.text, `[${end}]`];
}

/** Only when it is not clear anyway: most replies answer what stands above them. */
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
