import { type Reply, type ReplyBody, splitMessage } from '@cinnabar/sdk';
import type { MessageMentionOptions, MessageReplyOptions } from 'discord.js';

/** https://discord.com/developers/docs/resources/message#create-message */
const MAX_CONTENT = 2000;

/** One message of a reply. */
export type Part = Pick<MessageReplyOptions, 'content' | 'embeds' | 'components' | 'files'> & {
  readonly allowedMentions: MessageMentionOptions;
};

/** The messages that a reply becomes: split text, with embeds, components and files on the last. Only the caller is ever pinged. */
export function partsOf(reply: Reply, callerId: string): readonly [...Part[], Part] {
  const { content, embeds, components, files } = asBody(reply);
  const allowedMentions: MessageMentionOptions = { parse: [], repliedUser: true, users: [callerId] };
  const texts = content === undefined || content === '' ? [] : splitMessage(content, MAX_CONTENT);
  const last: Part = {
    ...(texts.length === 0 ? {} : { content: texts.at(-1) ?? '' }),
    ...(embeds === undefined ? {} : { embeds }),
    ...(components === undefined ? {} : { components }),
    ...(files === undefined ? {} : { files }),
    allowedMentions,
  };
  return [...texts.slice(0, -1).map((text) => ({ content: text, allowedMentions })), last];
}

/** A reply as an object. */
export function asBody(reply: Reply): ReplyBody {
  return typeof reply === 'string' ? { content: reply } : reply;
}
