import type { Message, MessageCreateOptions, MessageMentionOptions, SendableChannels } from 'discord.js';
import { type Profile, sendAs } from './send-as.js';
import { type SendOnceOptions, sendOnce } from './send-once.js';

/** One message of a text; `textMessages` and `answerMessages` split a text into them. */
export type TextPart = Pick<MessageCreateOptions, 'content' | 'files' | 'embeds' | 'components' | 'flags'>;

export interface SendTextOptions extends SendOnceOptions {
  /** The id of the message that the first part replies to; the part is sent without a reply when that is gone. */
  readonly replyTo?: string | undefined;
  /** Nobody is pinged unless given. */
  readonly allowedMentions?: MessageMentionOptions | undefined;
  /** The name and picture to send under; the bot's own without it. */
  readonly profile?: Profile | undefined;
  /** Called with each part that was sent, also with those before one that fails. */
  readonly onSent?: (message: Message) => void;
}

/**
 * Sends the parts of a text in their order, each once (`sendOnce`).
 * @param key names the text among all that the bot sends: the same key is the same text
 * @throws what a part failed with; the reason of `signal` when it aborts before a part
 * @example await sendText(channel, textMessages(answer), `${turn.id}:answer`, { clock, signal, replyTo: message.id });
 */
export async function sendText(
  channel: SendableChannels,
  parts: readonly TextPart[],
  key: string,
  { replyTo, allowedMentions = { parse: [], repliedUser: false }, profile, onSent, ...once }: SendTextOptions,
): Promise<readonly Message[]> {
  const sent: Message[] = [];
  for (const [index, part] of parts.entries()) {
    once.signal?.throwIfAborted();
    const isReply = index === 0 && replyTo !== undefined;
    const reply = isReply ? { reply: { messageReference: replyTo, failIfNotExists: false } } : {};
    const message = { ...part, allowedMentions, ...reply };
    const partKey = `${key}:${index}`;
    const posted =
      profile === undefined
        ? await sendOnce(channel, message, partKey, once)
        : await sendAs(channel, message, partKey, { ...once, profile });
    sent.push(posted);
    onSent?.(posted);
  }
  return sent;
}
