import type { Logger, SettledOutcome } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { inert } from '../card/value.js';
import { channelOf } from '../discord/place.js';
import { say } from '../discord/say.js';
import type { Board } from '../waiting/board.js';
import type { Request, WaitingCard } from '../waiting/card.js';
import type { Records } from '../waiting/records.js';

interface Parts {
  readonly board: Board;
  readonly records: Records;
  readonly client: Client;
  readonly log: Logger;
}

/** What a decision led to: the outcome, and what the member is told of it. */
interface Result {
  readonly outcome: SettledOutcome;
  readonly answer: string | undefined;
}

export type Decide = (card: WaitingCard, approved: boolean) => Promise<void>;

const FAILED = 'Something went wrong, and it is in the log. Please ask again.';
const REFUSED = 'the member cancelled it with 👎, so it was not run';
const ELSEWHERE = 'it was decided before, in another place';

/** Carries out the requester's decision: the first one, and only once. */
export function createDecide({ board, records, client, log }: Parts): Decide {
  return async function decide(card, approved) {
    const { request, callId } = card;
    if (request === undefined || !board.take(card)) return;
    board.decided(card.messageId, card.userId);
    const { outcome, answer } = await resultOf(card, request, approved).catch((error: unknown) =>
      broken(callId, error),
    );
    request.settle(outcome);
    if (outcome.status === 'failed') {
      // The member is told; what is a defect, the host has logged as one.
      log.info('a confirmed call failed', { callId, tool: request.call.tool.name, error: outcome.error });
    }
    await tell(card, answer);
    await records.delete(callId);
  };

  async function resultOf({ userId, callId }: WaitingCard, { call, run }: Request, approved: boolean): Promise<Result> {
    if (approved) {
      if (!(await call.approve(userId))) return elsewhere(callId);
      const outcome = await run();
      return { outcome, answer: answerOf(outcome) };
    }
    if (!(await call.deny(userId, REFUSED))) return elsewhere(callId);
    return { outcome: { status: 'denied', callId, reason: REFUSED }, answer: inert(call.card.cancelled) };
  }

  /** The ledger could not be written, or an interceptor further in threw: it did not run, or the ledger says what became of it. */
  function broken(callId: string, error: unknown): Result {
    log.error('a decision could not be carried out', { callId, error });
    const outcome = { status: 'failed', callId, error: { code: 'CINNABAR_TOOL_FAILED', message: FAILED } } as const;
    return { outcome, answer: FAILED };
  }

  async function tell({ callId, channelId, messageId, content, hasButtons }: WaitingCard, answer: string | undefined) {
    const channel = await channelOf(client, channelId);
    if (channel === undefined) return;
    if (answer !== undefined) await say(channel, callId, answer);
    if (hasButtons) await channel.messages.edit(messageId, { content, components: [] });
  }
}

function elsewhere(callId: string): Result {
  return { outcome: { status: 'expired', callId, reason: ELSEWHERE }, answer: undefined };
}

function answerOf(outcome: SettledOutcome): string {
  if (outcome.status === 'done') return outcome.text.trim() === '' ? '✓ Done.' : outcome.text;
  return outcome.status === 'failed' ? outcome.error.message : outcome.reason;
}
