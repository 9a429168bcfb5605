import { mayRefer, noticeMessages, type SendOnceOptions, sendOnce, TEXT_LIMITS, textMessages } from '@cinnabar/sdk';
import type { SendableChannels } from 'discord.js';

/** Whoever is named in a card or an answer is not pinged by it. */
export const NO_PINGS = { parse: [], repliedUser: false } as const;

/** A tool may answer with a whole document: more messages than this would bury the conversation. */
const MOST_MESSAGES = 3;

interface SayOptions extends SendOnceOptions {
  /** The card that it answers: said long after it, the member must see which one is meant. */
  readonly replyTo?: string | undefined;
  /** A line below it, also where the text becomes a file. */
  readonly foot?: string;
  /** See `Answer`. */
  readonly notice?: true | undefined;
}

/** Sends the answer to a call once, as one message or several; a very long one as a file. */
export async function say(
  channel: SendableChannels,
  callId: string,
  text: string,
  { replyTo, foot = '', notice, ...options }: SayOptions,
): Promise<void> {
  const limits = { ...TEXT_LIMITS, messages: MOST_MESSAGES };
  const split = notice === true ? noticeMessages : textMessages;
  for (const [index, part] of split(text, { limits, foot }).entries()) {
    const reply =
      index === 0 && replyTo !== undefined && mayRefer(channel)
        ? { reply: { messageReference: replyTo, failIfNotExists: false } }
        : {};
    const message = { ...part, ...reply, allowedMentions: NO_PINGS };
    await sendOnce(channel, message, `confirm:${callId}:${index}`, options);
  }
}
