import {
  findSendable,
  idBefore,
  isRefusal,
  type LedgerEntry,
  mayRefer,
  noticeLine,
  noticeMessages,
  type SettledOutcome,
  sendText,
  TEXT_LIMITS,
  t,
  textMessages,
  unlessUnreachable,
  visible,
} from '@cinnabar/sdk';
import type { Client, MessageEditOptions, SendableChannels } from 'discord.js';
import type { ConfirmContext } from './context.js';
import { choiceOf } from './controls.js';
import { type Ending, ended, type Verdict } from './render.js';

/** Why a call ended without a decision, in words for the model. */
export const REASONS = {
  timedOut: 'nobody confirmed it in time, so it was not run',
  undelivered: 'the confirmation card could not be posted, so it was not run',
  deleted: 'the confirmation card was deleted, so it was not run',
  restarted: 'the bot was restarted before this was decided, so it was not run',
  forgotten: 'the member had their data deleted, so it was not run',
  withdrawn: 'what it was part of was stopped before this was decided, so it was not run',
} as const;

/** Why a cancelled call was not executed, in words for the model. */
const CANCELLED = 'the member cancelled it with 👎, so it was not run';
const CANCELLED_BECAUSE = 'the member denied it, so it was not run. Their reason:';

/** Why a call was not executed that the member left out of a confirmed card. */
export const LEFT_OUT = 'the member left it out when they confirmed the rest, so it was not run';

/** The outcome for the model. @param why the member's own words */
export function cancellation(why: string | undefined): string {
  return why === undefined ? CANCELLED : `${CANCELLED_BECAUSE} “${visible(why)}”`;
}

/** Whether the member cancelled the call; otherwise it was refused before it was executed. */
function wasCancelled({ state, reason = '' }: Pick<LedgerEntry, 'state' | 'reason'>): boolean {
  return state === 'denied' && (reason === CANCELLED || reason === LEFT_OUT || reason.startsWith(CANCELLED_BECAUSE));
}

/** The answer to a call, for all or for its requester only. */
export interface Answer {
  readonly text: string;
  readonly audience?: 'requester' | undefined;
  /** Whether it is the program's own text: a notice for members. Models get the outcome of their call instead. */
  readonly notice?: true | undefined;
}

/** The answer to a confirmed call. */
export function answerOf(outcome: SettledOutcome): Answer {
  if (outcome.status === 'done') {
    return { text: outcome.text.trim() === '' ? t('✓ Done.') : outcome.text, audience: outcome.audience };
  }
  return { text: outcome.status === 'failed' ? outcome.error.message : outcome.reason, notice: true };
}

/** The answer from the ledger, after a restart; `undefined` when the card itself shows everything. @param cancelled the tool's words for a cancellation */
export function answerFromLedger(row: LedgerEntry, cancelled: string | undefined): Answer | undefined {
  const { id: callId, state, text = '', reason = '', audience } = row;
  switch (state) {
    case 'done':
      return answerOf({ status: 'done', callId, output: text, text, ...(audience === undefined ? {} : { audience }) });
    case 'failed':
      return { text: reason, notice: true };
    case 'denied': {
      const text = wasCancelled(row) ? cancelled : reason;
      return text === undefined ? undefined : { text, notice: true };
    }
    default:
      return undefined;
  }
}

/** The reasons without a decision that a card shows as its ending. */
const REASONS_SHOWN = ['timedOut', 'withdrawn', 'undelivered'] as const;

/** The ending of a card according to the ledger. Without an entry, it is unknown whether the call was executed, because the entry is older than the card. */
export function endingFromLedger(row: LedgerEntry | undefined): Ending | undefined {
  if (row === undefined) return 'unknown';
  switch (row.state) {
    case 'done':
    case 'failed':
    case 'unknown':
      return row.state;
    case 'denied':
      return wasCancelled(row) ? 'cancelled' : 'refused';
    default:
      return REASONS_SHOWN.find((key) => REASONS[key] === row.reason);
  }
}

/** Members who are named in a card or an answer are not pinged. */
export const NO_PINGS = { parse: [], repliedUser: false } as const;

const given = () => t('✓ Done. What it returned is in your direct messages.');
const notTaken = () =>
  t(
    '✓ Done, but what it returned is not for this channel, and you accept no direct messages from me. Allow them and ask again, or choose to have it posted here.',
  );

/** Maximum number of messages for a result. A tool may return a whole document, which would displace the conversation. */
const MOST_MESSAGES = 3;

interface AnswerOptions {
  readonly callId: string;
  readonly userId: string;
  /** The id of the card, so that it is clear to which card a late answer belongs. */
  readonly replyTo?: string | undefined;
  /** See `SendOnceOptions`; set if an earlier process may have sent it. */
  readonly sentAfter?: string | undefined;
}

/**
 * Sends the answer to a call once, as a reply to the card that names its member; a result for the member only is sent as a direct message. A long text becomes
 * several messages, a very long one a file.
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
  // Names the member, because several may have requested the same, and Discord's reply names only the bot as the card's author.
  const foot = `\n${noticeLine(`-# for <@${userId}>`)}`;
  if (audience === undefined) return post(text, foot);
  return post((await sendPrivately()) ? given() : notTaken(), foot);

  /** Resolves with `false` when the member accepts no direct messages. */
  async function sendPrivately(): Promise<boolean> {
    try {
      const direct = await client.users.createDM(userId);
      // Another key, because Discord treats a nonce as the same message in any channel.
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

/** Shows on a card how it ended, and removes its buttons. */
export function endCard(
  client: Client,
  card: PostedCard & { readonly content: string },
  ending: Ending,
  verdict?: Verdict,
): Promise<void> {
  return editCard(client, card, { content: ended(card.content, ending, verdict), components: [] });
}

/** Edits a card. A deleted card needs no edit. */
export async function editCard(
  client: Client,
  { channelId, messageId }: PostedCard,
  change: Pick<MessageEditOptions, 'content' | 'components'>,
): Promise<void> {
  const channel = await findSendable(client, channelId);
  if (channel !== undefined)
    await unlessUnreachable(channel.messages.edit(messageId, { ...change, allowedMentions: NO_PINGS }));
}

/** The member's reaction to a card as Discord has it, in case its event was missed. 👎 takes precedence over 👍. */
export async function fetchReaction(
  channel: SendableChannels | undefined,
  messageId: string,
  userId: string,
): Promise<'approve' | 'refuse' | undefined> {
  if (channel === undefined) return undefined;
  return unlessUnreachable(
    (async () => {
      const message = await channel.messages.fetch({ message: messageId, force: true });
      // Discord lists users by id, after the given one.
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
