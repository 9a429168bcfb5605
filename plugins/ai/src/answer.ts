import {
  answerMessages,
  asNotice,
  type Clock,
  mayRefer,
  noticeMessages,
  type Reply,
  type ReplyBody,
  retryDiscord,
  type TextLimits,
} from '@cinnabar/sdk';
import type { Message, MessageReplyOptions, SendableChannels } from 'discord.js';

export interface AnswerParts {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long an answer may be in a guild. */
  limits(guildId: string | null): Promise<TextLimits>;
}

/**
 * Answers a message: the first part as a reply to it, the rest below, files and embeds on the last. Only its author can be pinged.
 * Resolves with the last message sent.
 */
export function answering(
  message: Message,
  channel: SendableChannels,
  { clock, signal, limits }: AnswerParts,
): (reply: Reply) => Promise<Message> {
  const allowedMentions = { parse: [], users: [message.author.id], repliedUser: true };
  let replied = !mayRefer(channel);
  let serial = 0;
  const send = (options: Omit<MessageReplyOptions, 'failIfNotExists'>): Promise<Message> => {
    // The question may have been deleted meanwhile: the answer is worth sending all the same.
    const reply = replied ? {} : { reply: { messageReference: message, failIfNotExists: false } };
    replied = true;
    serial += 1;
    // A request that is repeated makes no second message.
    const nonce = `${message.id.slice(-19)}a${serial}`;
    const post = async (): Promise<Message> =>
      channel.send({ ...options, ...reply, allowedMentions, nonce, enforceNonce: true });
    return retryDiscord(clock, post, { signal });
  };
  return async (reply) => {
    const body = typeof reply === 'string' ? { content: reply } : reply;
    const split = body.notice === true ? noticeMessages : answerMessages;
    const parts = split(body.content ?? '', { limits: await limits(message.guildId) });
    for (const { content } of parts.slice(0, -1)) await send({ content });
    const { content = body.notice === true ? asNotice('') : '', files = [] } = parts.at(-1) ?? {};
    const extras = extrasOf(body);
    return send({ ...extras, content, ...(files.length === 0 ? {} : { files: [...files, ...(extras.files ?? [])] }) });
  };
}

function extrasOf({
  embeds,
  components,
  files,
}: ReplyBody): Pick<MessageReplyOptions, 'embeds' | 'components' | 'files'> {
  return {
    ...(embeds === undefined ? {} : { embeds }),
    ...(components === undefined ? {} : { components }),
    ...(files === undefined ? {} : { files }),
  };
}
