import {
  findSendable,
  idBefore,
  isRefusal,
  mayRefer,
  noticeLine,
  noticeMessages,
  sendText,
  TEXT_LIMITS,
  textMessages,
  unlessUnreachable,
} from '@cinnabar/sdk';
import type { Client, MessageEditOptions, SendableChannels } from 'discord.js';
import type { ConfirmContext } from './context.js';
import { choiceOf } from './controls.js';
import type { Answer } from './outcomes.js';
import { type Ending, ended, type Verdict } from './render.js';

/** Members who are named in a card or an answer are not pinged by it. */
export const NO_PINGS = { parse: [], repliedUser: false } as const;

const GIVEN = '✓ Done. What it returned is in your direct messages.';
const NOT_TAKEN =
  '✓ Done, but what it returned is not for this channel, and you accept no direct messages from me. Allow them and ask again, or choose to have it posted here.';

/** A tool may answer with a whole document: more messages than this would bury the conversation. */
const MOST_MESSAGES = 3;

interface AnswerOptions {
  readonly callId: string;
  readonly userId: string;
  /** The id of the card: a long time after it, the answer says which card is meant. */
  readonly replyTo?: string | undefined;
  /** See `SendOnceOptions`: set where an earlier process may have sent it. */
  readonly sentAfter?: string | undefined;
}

/**
 * Sends the answer to a call once, naming its member, as a reply to the card; a result for the member alone goes into a direct message. A long
 * text becomes several messages, a very long one a file.
 */
export async function sendAnswer(
  { client, clock, signal }: Pick<ConfirmContext, 'client' | 'clock' | 'signal'>,
  channel: SendableChannels,
  { text, audience, notice }: Answer,
  { callId, userId, replyTo, sentAfter }: AnswerOptions,
): Promise<void> {
  const limits = { ...TEXT_LIMITS, messages: MOST_MESSAGES };
  const options = { clock, signal, sentAfter };
  const post = async (body: string, foot = '') => {
    const parts = (notice === true ? noticeMessages : textMessages)(body, { limits, foot });
    const reply = mayRefer(channel) ? replyTo : undefined;
    await sendText(channel, parts, `confirm:${callId}`, { ...options, replyTo: reply });
  };
  if (channel.isDMBased()) return post(text);
  // Several members may have asked for the same thing; Discord's reply names the bot, whose card it is.
  const foot = `\n${noticeLine(`-# for <@${userId}>`)}`;
  if (audience === undefined) return post(text, foot);
  return post((await sendPrivately()) ? GIVEN : NOT_TAKEN, foot);

  /** Resolves with `false` when the member takes no direct messages. */
  async function sendPrivately(): Promise<boolean> {
    try {
      const direct = await client.users.createDM(userId);
      // A key of its own: Discord takes a nonce for the same message in whatever channel.
      await sendText(direct, textMessages(text, { limits }), `confirm:${callId}:alone`, options);
      return true;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  }
}

interface PostedCard {
  readonly channelId: string;
  readonly messageId: string;
}

/** Shows on a card how it ended, and takes its buttons away. */
export function endCard(
  client: Client,
  card: PostedCard & { readonly content: string },
  ending: Ending,
  verdict?: Verdict,
): Promise<void> {
  return editCard(client, card, { content: ended(card.content, ending, verdict), components: [] });
}

/** Edits a card. One that is gone needs no change. */
export async function editCard(
  client: Client,
  { channelId, messageId }: PostedCard,
  change: Pick<MessageEditOptions, 'content' | 'components'>,
): Promise<void> {
  const channel = await findSendable(client, channelId);
  if (channel !== undefined)
    await unlessUnreachable(channel.messages.edit(messageId, { ...change, allowedMentions: NO_PINGS }));
}

/** The member's reaction to a card, asked of Discord, for when its event may have been missed. 👎 takes precedence over 👍. */
export async function fetchReaction(
  channel: SendableChannels | undefined,
  messageId: string,
  userId: string,
): Promise<'approve' | 'refuse' | undefined> {
  if (channel === undefined) return undefined;
  return unlessUnreachable(
    (async () => {
      const message = await channel.messages.fetch({ message: messageId, force: true });
      // Users are listed by id, from the one after `after` on.
      const after = idBefore(userId);
      for (const choice of ['refuse', 'approve'] as const) {
        const reactions = message.reactions.cache.filter(({ emoji }) => choiceOf(emoji) === choice);
        for (const reaction of reactions.values()) {
          if ((await reaction.users.fetch({ limit: 1, after })).has(userId)) return choice;
        }
      }
      return undefined;
    })(),
  );
}
