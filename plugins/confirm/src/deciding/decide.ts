import type { Clock, Logger, SettledOutcome, ToolCall } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { inert } from '../card/value.js';
import { endCard } from '../discord/end-card.js';
import { isGone } from '../discord/errors.js';
import { type Answer, give } from '../discord/give.js';
import { channelOf } from '../discord/place.js';
import type { Recovery } from '../lifecycle/recover.js';
import type { Grants } from '../session/grants.js';
import type { Pattern } from '../session/pattern.js';
import type { Board } from '../waiting/board.js';
import type { Request, WaitingCard } from '../waiting/card.js';
import type { Outbox } from '../waiting/outbox.js';
import type { Records } from '../waiting/records.js';
import { answerOf, cancellation } from './answers.js';

interface Parts {
  readonly board: Board;
  readonly records: Records;
  readonly grants: Grants;
  readonly outbox: Outbox;
  readonly recovery: Recovery;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** What a decision led to: the outcome, and what the member is told of it; without words, what the ledger knows. */
interface Result {
  readonly outcome: SettledOutcome;
  readonly answer: Answer | undefined;
}

/** What a member decides: with the result posted where they asked, even where some readers could not read its source; also for later calls of the task that fit `pattern`; with a reason, for the model to know. */
export type Decision =
  | { readonly approved: true; readonly pattern?: Pattern; readonly share?: 'here' }
  | { readonly approved: false; readonly reason?: string };

/** Resolves with `false` when the card had been decided before, or was over. */
export type Decide = (card: WaitingCard, decision: Decision) => Promise<boolean>;

const FAILED = 'Something went wrong, and it is in the log. Please ask again.';
const ONCE_ONLY =
  'This ran, but what you allowed for the rest of the task could not be saved: you will be asked again.';
const ELSEWHERE = 'it was decided before, in another place';

/** Carries out the requester's decision: the first one, and only once. */
export function createDecide({ board, records, grants, outbox, recovery, client, clock, log, signal }: Parts): Decide {
  return decide;

  async function decide(card: WaitingCard, decision: Decision): Promise<boolean> {
    const { request, callId } = card;
    if (request === undefined || !board.take(card)) return false;
    board.decided(card.messageId, card.userId);
    const { outcome, answer } = await resultOf(card, request, decision).catch((error: unknown) =>
      broken(callId, error),
    );
    request.settle(outcome);
    if (outcome.status === 'failed') {
      // The member is told; what is a defect, the host has logged as one.
      log.info('a confirmed call failed', { callId, tool: request.call.tool.name, error: outcome.error });
    }
    await outbox.put(callId, async () => {
      if (answer === undefined) return recovery.resolve(callId);
      await tell(card, answer);
      await records.delete(callId);
    });
    if (decision.approved && decision.pattern !== undefined) await decideCovered(card);
    return true;
  }

  /** A step of a task may ask for several calls at once: what is now allowed for the whole task lets those through that wait beside it. */
  async function decideCovered({ userId, request }: WaitingCard): Promise<void> {
    const { session } = request.call;
    for (const other of [...(board.of(userId) ?? [])]) {
      const { call, allowance } = other.request;
      if (call.session?.id !== session?.id || call.reading === 'private') continue;
      if ((await grants.covering(call, allowance)) !== undefined) await decide(other, { approved: true });
    }
  }

  async function resultOf(card: WaitingCard, { call, run }: Request, decision: Decision): Promise<Result> {
    const { userId, callId } = card;
    if (decision.approved) {
      if (!(await call.approve(userId, decision.share))) return elsewhere(callId);
      // Before it runs: its next call may come at once.
      const isKept = decision.pattern === undefined || (await keep(card, call, decision.pattern));
      const outcome = await run();
      const told = answerOf(outcome);
      return { outcome, answer: isKept ? told : { ...told, text: `${told.text}\n${ONCE_ONLY}` } };
    }
    const { reason: why } = decision;
    const reason = cancellation(why);
    if (!(await call.deny(userId, reason))) return elsewhere(callId);
    const cancelled = inert(call.card.cancelled);
    return {
      outcome: { status: 'denied', callId, reason },
      answer: { text: why === undefined ? cancelled : `${cancelled} (${inert(why)})` },
    };
  }

  async function keep({ callId }: WaitingCard, call: ToolCall, pattern: Pattern): Promise<boolean> {
    try {
      await grants.add(call, pattern);
      return true;
    } catch (error) {
      log.error('what was allowed for a task could not be saved', { callId, error });
      return false;
    }
  }

  /** The ledger could not be written, or an interceptor further in threw: it did not run, or the ledger says what became of it. */
  function broken(callId: string, error: unknown): Result {
    log.error('a decision could not be carried out', { callId, error });
    const outcome = { status: 'failed', callId, error: { code: 'CINNABAR_TOOL_FAILED', message: FAILED } } as const;
    return { outcome, answer: { text: FAILED } };
  }

  async function tell(card: WaitingCard, answer: Answer) {
    const { callId, channelId, hasButtons } = card;
    const channel = await channelOf(client, channelId);
    if (channel === undefined) return;
    await give({ client, clock, signal }, channel, card, answer).catch((error: unknown) => {
      if (!isGone(error)) throw error;
      log.warn('a member could not be told what became of a call', { callId, channelId, error });
    });
    if (hasButtons) await endCard(client, card, undefined);
  }
}

function elsewhere(callId: string): Result {
  return { outcome: { status: 'expired', callId, reason: ELSEWHERE }, answer: undefined };
}
