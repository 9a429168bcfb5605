import { asNotice, noticeMessages, type Reply, type ReplyBody, textMessages } from '@cinnabar/sdk';
import type { MessageMentionOptions, MessageReplyOptions } from 'discord.js';

/** One message of a reply. */
export type Part = Pick<MessageReplyOptions, 'content' | 'embeds' | 'components' | 'files'> & {
  readonly allowedMentions: MessageMentionOptions;
};

/** The messages that a reply becomes: split text (a very long one becomes a file), with embeds, components and files on the last. Only the caller is ever pinged. */
export function partsOf(reply: Reply, callerId: string): readonly [...Part[], Part] {
  const { content, embeds, components, files, notice = false } = asBody(reply);
  const allowedMentions: MessageMentionOptions = { parse: [], repliedUser: true, users: [callerId] };
  const texts = notice ? noticesOf(content ?? '') : textMessages(content ?? '');
  const { content: lastText, files: textFiles = [] } = texts.at(-1) ?? {};
  const allFiles = [...textFiles, ...(files ?? [])];
  const last: Part = {
    ...(lastText === undefined ? {} : { content: lastText }),
    ...(embeds === undefined ? {} : { embeds }),
    ...(components === undefined ? {} : { components }),
    ...(allFiles.length === 0 ? {} : { files: allFiles }),
    allowedMentions,
  };
  return [...texts.slice(0, -1).map((text) => ({ content: text.content, allowedMentions })), last];
}

/** Embeds and files alone are marked, too. */
function noticesOf(text: string): ReturnType<typeof textMessages> {
  return text === '' ? [{ content: asNotice('') }] : noticeMessages(text);
}

/** A reply as an object. */
export function asBody(reply: Reply): ReplyBody {
  return typeof reply === 'string' ? { content: reply } : reply;
}

/** A reply that is a notice where it does not say otherwise itself. */
export function asNoticeBody(reply: Reply): ReplyBody {
  return { notice: true, ...asBody(reply) };
}
