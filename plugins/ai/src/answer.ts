import { type Clock, mayRefer, type Reply, type ReplyBody, splitMessage } from '@cinnabar/sdk';
import type { Message, MessageReplyOptions, SendableChannels } from 'discord.js';
import { withPatience } from './patience.js';

const DISCORD_LIMIT = 2000;

/**
 * Answers a message: the first part as a reply to it, the rest below, files and embeds on the last. Only its author can be pinged.
 * Resolves with the last message sent.
 */
export function answering(
  message: Message,
  channel: SendableChannels,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
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
    return withPatience(clock, signal, async () =>
      channel.send({ ...options, ...reply, allowedMentions, nonce, enforceNonce: true }),
    );
  };
  return async (reply) => {
    const body = typeof reply === 'string' ? { content: reply } : reply;
    const parts = splitMessage(body.content ?? '', DISCORD_LIMIT);
    for (const content of parts.slice(0, -1)) await send({ content });
    return send({ ...extrasOf(body), content: parts.at(-1) ?? '' });
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
