import { type Clock, isUnreachable, type LedgerEntry, type Logger, type SettledOutcome, visible } from '@cinnabar/sdk';
import type { Client, MessageEditOptions } from 'discord.js';
import type { Outbox, Records } from './card-records.js';
import type { Grants } from './grants.js';
import { type Answer, changeCard, channelOf, give } from './messages.js';
import type { Pattern } from './patterns.js';
import { type Board, type Request, requestsOf, type WaitingCard } from './pending-cards.js';
import type { Recovery } from './recovery.js';
import { decided, inert, type Verdict } from './render.js';

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
  /** What stays below a decided card: what no tool can send, so that it is still known for one. */
  mark(): MessageEditOptions['components'];
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
export function createDecide(parts: Parts): Decide {
  const { board, records, grants, outbox, recovery, client, clock, log, signal, mark } = parts;
  return decide;

  async function decide(card: WaitingCard, decision: Decision): Promise<boolean> {
    const { callId } = card;
    if (!board.take(card)) return false;
    board.decided(card.messageId, card.userId);
    const verdict = { approved: decision.approved, userId: card.userId, at: clock.now() };
    // Written for all of the card's calls before the first of them runs.
    const written: { readonly request: Request; readonly run: () => Promise<Result> }[] = [];
    for (const request of requestsOf(card)) {
      const run = await write(card, request, decision).catch((error: unknown) => async () => broken(request, error));
      written.push({ request, run });
    }
    const shown = showVerdict(card, verdict).then(
      () => true,
      (error: unknown) => {
        log.debug('a decision could not be shown on its card yet', { callId, error });
        return false;
      },
    );
    const answers: (Answer | undefined)[] = [];
    for (const { request, run } of written) {
      const { outcome, answer } = await run().catch((error: unknown) => broken(request, error));
      request.settle(outcome);
      answers.push(answer);
      if (outcome.status === 'failed') {
        // The member is told; what is a defect, the host has logged as one.
        const { id, tool } = request.call;
        log.info('a confirmed call failed', { callId: id, tool: tool.name, error: outcome.error });
      }
    }
    // The card first: the result is a reply to it.
    const isShown = await shown;
    await outbox.put(callId, async () => {
      const known = answers.filter((answer) => answer !== undefined);
      if (known.length < answers.length) return recovery.resolve(callId);
      await tell(card, known);
      if (!isShown) await showVerdict(card, verdict);
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

  /** Writes the decision on one call; what it resolves with carries it out. */
  async function write(card: WaitingCard, request: Request, decision: Decision): Promise<() => Promise<Result>> {
    const { call } = request;
    const { userId, state } = card;
    if (decision.approved && !state.excluded.has(call.id)) {
      if (!(await call.approve(userId, decision.share))) return async () => elsewhere(call.id);
      return () => runNow(request, decision.pattern);
    }
    const why = decision.approved ? undefined : decision.reason;
    const reason = decision.approved ? LEFT_OUT : cancellation(why);
    if (!(await call.deny(userId, reason))) return async () => elsewhere(call.id);
    const cancelled = inert(call.card.cancelled);
    return async () => ({
      outcome: { status: 'denied', callId: call.id, reason },
      answer: { text: why === undefined ? cancelled : `${cancelled} (${inert(why)})` },
    });
  }

  async function runNow({ call, run }: Request, pattern: Pattern | undefined): Promise<Result> {
    // Before it runs: its next call may come at once.
    const isKept = pattern === undefined || (await keep(call, pattern));
    const outcome = await run();
    const told = answerOf(outcome);
    return { outcome, answer: isKept ? told : { ...told, text: `${told.text}\n${ONCE_ONLY}` } };
  }

  async function keep(call: Request['call'], pattern: Pattern): Promise<boolean> {
    try {
      await grants.add(call, pattern);
      return true;
    } catch (error) {
      log.error('what was allowed for a task could not be saved', { callId: call.id, error });
      return false;
    }
  }

  /** The ledger could not be written, or an interceptor further in threw: it did not run, or the ledger says what became of it. */
  function broken({ call }: Request, error: unknown): Result {
    log.error('a decision could not be carried out', { callId: call.id, error });
    const failure = { code: 'CINNABAR_TOOL_FAILED', message: FAILED } as const;
    return { outcome: { status: 'failed', callId: call.id, error: failure }, answer: { text: FAILED } };
  }

  async function showVerdict(card: WaitingCard, verdict: Verdict): Promise<void> {
    await card.drawn;
    const content = decided(card.draw(card.state).content, verdict);
    const components = mark();
    await changeCard(client, card, { content, ...(components === undefined ? {} : { components }) });
  }

  /** In one message, but for what is for the member alone. */
  async function tell(card: WaitingCard, answers: readonly Answer[]) {
    const { callId, channelId, messageId, userId } = card;
    const channel = await channelOf(client, channelId);
    if (channel === undefined) return;
    const open = answers.filter(({ audience }) => audience === undefined);
    const alone = answers.filter(({ audience }) => audience !== undefined);
    const notice = open.every((answer) => answer.notice === true) || undefined;
    const together = open.length === 0 ? [] : [{ text: open.map(({ text }) => text).join('\n'), notice }];
    try {
      for (const [index, answer] of [...together, ...alone].entries()) {
        const key = index === 0 ? callId : `${callId}:${index}`;
        await give({ client, clock, signal }, channel, { callId: key, userId }, answer, messageId);
      }
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      log.warn('a member could not be told what became of a call', { callId, channelId, error });
    }
  }
}

function elsewhere(callId: string): Result {
  return { outcome: { status: 'expired', callId, reason: ELSEWHERE }, answer: undefined };
}

/** Why a call that its member cancelled was not run, for the model. */
const CANCELLED = 'the member cancelled it with 👎, so it was not run';
const CANCELLED_BECAUSE = 'the member denied it, so it was not run. Their reason:';

/** Why a call did not run that the member took out of a card whose other calls they confirmed. */
const LEFT_OUT = 'the member left it out when they confirmed the rest, so it was not run';

/** @param why the member's own words */
function cancellation(why: string | undefined): string {
  return why === undefined ? CANCELLED : `${CANCELLED_BECAUSE} “${visible(why)}”`;
}

/** Whether the member cancelled it; else it was refused when it was to be run. */
export function wasCancelled({ state, reason = '' }: Pick<LedgerEntry, 'state' | 'reason'>): boolean {
  return state === 'denied' && (reason === CANCELLED || reason === LEFT_OUT || reason.startsWith(CANCELLED_BECAUSE));
}

/** What a member is told of a call that was confirmed. */
export function answerOf(outcome: SettledOutcome): Answer {
  if (outcome.status === 'done') {
    return { text: outcome.text.trim() === '' ? '✓ Done.' : outcome.text, audience: outcome.audience };
  }
  return { text: outcome.status === 'failed' ? outcome.error.message : outcome.reason, notice: true };
}

/** The same from the ledger, after a restart; `undefined` where the card itself says it all. @param cancelled the tool's words for a cancellation */
export function answerTo(row: LedgerEntry, cancelled: string | undefined): Answer | undefined {
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
