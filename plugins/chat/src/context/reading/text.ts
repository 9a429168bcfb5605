import { inNote } from '@cinnabar/sdk';
import type { HistoryAttachment, HistoryMessage } from '../../history/types.js';
import type { Entry } from './entries.js';

/** How an entry is put into words. */
export interface Wording {
  /** Mentions and other markup by name, the command taken off. */
  said(message: HistoryMessage): string;
  /** Of somebody who has spoken before this message. */
  nameOf(speaker: string): string | undefined;
  isShown(attachment: HistoryAttachment, message: HistoryMessage): boolean;
}

/** The text of an entry; empty when there is none. Parts of what the bot said are joined by a space. */
export function textOf(entry: Entry, previous: HistoryMessage | undefined, wording: Wording): string {
  const [message] = entry.messages;
  if (entry.own) return ownText(entry, wording);
  return lines([wording.said(message), ...notesOn(message, wording), replyNote(message, previous, wording)]);
}

/** Notes beside the bot's own words would teach it to write such notes. */
function ownText({ messages }: Entry, wording: Wording): string {
  const said = messages.map((message) => wording.said(message).trim()).filter((text) => text !== '');
  return said.length > 0 ? said.join(' ') : lines(messages.flatMap((message) => notesOn(message, wording)));
}

const MAX_NOTE = 200;

function notesOn(message: HistoryMessage, { isShown }: Wording): readonly string[] {
  const files = message.attachments
    .filter((attachment) => !isShown(attachment, message))
    .map(
      ({ name, contentType, sizeBytes }) =>
        `[attachment: ${inNote(name, MAX_NOTE)}, ${inNote(contentType ?? 'file', MAX_NOTE)}, ${sizeText(sizeBytes)}]`,
    );
  return [...files, ...message.extras];
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
