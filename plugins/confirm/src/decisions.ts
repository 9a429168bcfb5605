import { findSendable, isUnreachable, type SettledOutcome, type ToolCall } from '@cinnabar/sdk';
import type { ConfirmContext } from './context.js';
import { markRow } from './controls.js';
import { editCard, sendAnswer } from './messages.js';
import { type Answer, answerOf, cancellation, LEFT_OUT } from './outcomes.js';
import type { Pattern } from './patterns.js';
import type { PendingCard, Request } from './pending-cards.js';
import { resolveCard } from './recovery.js';
import { decided, inert, type Verdict } from './render.js';

/**
 * What a member decides. `pattern` approves later calls of the task, too; `share` posts the result where they asked, even if some readers there
 * cannot read its source; `reason` is passed on to the model.
 */
export type Decision =
  | { readonly approved: true; readonly pattern?: Pattern; readonly share?: 'here' }
  | { readonly approved: false; readonly reason?: string };

/** The outcome of a call and the answer to its member; without an answer, the ledger knows what happened. */
interface Result {
  readonly outcome: SettledOutcome;
  readonly answer: Answer | undefined;
}

const FAILED = 'Something went wrong, and it is in the log. Please ask again.';
const ONCE_ONLY =
  'This ran, but what you allowed for the rest of the task could not be saved: you will be asked again.';
const ELSEWHERE = 'it was decided before, in another place';

/** Carries out the requester's decision: the first one, and only once. Resolves with `false` when the card was decided before, or is over. */
export async function decide(context: ConfirmContext, card: PendingCard, decision: Decision): Promise<boolean> {
  const { cards, records, outbox, clock, log } = context;
  const { callId } = card;
  if (!cards.take(card)) return false;
  cards.setDecider(card.messageId, card.userId);
  const verdict = { approved: decision.approved, userId: card.userId, at: clock.now() };
  // Written for all of the card's calls before the first of them runs.
  const written: { readonly request: Request; readonly run: () => Promise<Result> }[] = [];
  for (const request of card.requests) {
    const run = await writeDecision(context, card, request, decision).catch(
      (error: unknown) => async () => broken(context, request, error),
    );
    written.push({ request, run });
  }
  const shown = showVerdict(context, card, verdict).then(
    () => true,
    (error: unknown) => {
      log.debug('a decision could not be shown on its card yet', { callId, error });
      return false;
    },
  );
  const answers: (Answer | undefined)[] = [];
  for (const { request, run } of written) {
    const { outcome, answer } = await run().catch((error: unknown) => broken(context, request, error));
    request.settle(outcome);
    answers.push(answer);
    if (outcome.status === 'failed') {
      // The answer says so, too; the host has logged defects as errors.
      const { id, tool } = request.call;
      log.info('a confirmed call failed', { callId: id, tool: tool.name, error: outcome.error });
    }
  }
  // The card first: the result is a reply to it.
  const isShown = await shown;
  await outbox.put(callId, async () => {
    const known = answers.filter((answer) => answer !== undefined);
    if (known.length < answers.length) return resolveCard(context, callId);
    await sendAnswers(context, card, known);
    if (!isShown) await showVerdict(context, card, verdict);
    await records.delete(callId);
  });
  if (decision.approved && decision.pattern !== undefined) await decideCovered(context, card);
  return true;
}

/** Writes the decision on one call; what it resolves with carries it out. */
async function writeDecision(
  context: ConfirmContext,
  { userId, state }: PendingCard,
  request: Request,
  decision: Decision,
): Promise<() => Promise<Result>> {
  const { call } = request;
  const elsewhere: Result = { outcome: { status: 'expired', callId: call.id, reason: ELSEWHERE }, answer: undefined };
  if (decision.approved && !state.excluded.has(call.id)) {
    if (!(await call.approve(userId, decision.share))) return async () => elsewhere;
    return () => runNow(context, request, decision.pattern);
  }
  const why = decision.approved ? undefined : decision.reason;
  const reason = decision.approved ? LEFT_OUT : cancellation(why);
  if (!(await call.deny(userId, reason))) return async () => elsewhere;
  const cancelled = inert(call.card.cancelled);
  return async () => ({
    outcome: { status: 'denied', callId: call.id, reason },
    answer: { text: why === undefined ? cancelled : `${cancelled} (${inert(why)})` },
  });
}

async function runNow(context: ConfirmContext, { call, run }: Request, pattern: Pattern | undefined): Promise<Result> {
  // Before it runs: its next call may come at once.
  const isKept = pattern === undefined || (await keepGrant(context, call, pattern));
  const outcome = await run();
  const answer = answerOf(outcome);
  return { outcome, answer: isKept ? answer : { ...answer, text: `${answer.text}\n${ONCE_ONLY}` } };
}

async function keepGrant({ grants, log }: ConfirmContext, call: ToolCall, pattern: Pattern): Promise<boolean> {
  try {
    await grants.add(call, pattern);
    return true;
  } catch (error) {
    log.error('what was allowed for a task could not be saved', { callId: call.id, error });
    return false;
  }
}

/** The ledger could not be written, or an inner interceptor threw: the call did not run, or the ledger says what became of it. */
function broken({ log }: ConfirmContext, { call }: Request, error: unknown): Result {
  log.error('a decision could not be carried out', { callId: call.id, error });
  const failure = { code: 'CINNABAR_TOOL_FAILED', message: FAILED } as const;
  return { outcome: { status: 'failed', callId: call.id, error: failure }, answer: { text: FAILED } };
}

/** A step of a task may ask for several calls at once: what is now allowed for the whole task approves those that wait beside it. */
async function decideCovered(context: ConfirmContext, { userId, requests: [decided] }: PendingCard): Promise<void> {
  for (const other of context.cards.of(userId)) {
    const { call, allowance } = other.requests[0];
    if (call.session?.id !== decided.call.session?.id || call.reading === 'private') continue;
    if ((await context.grants.covering(call, allowance)) !== undefined)
      await decide(context, other, { approved: true });
  }
}

async function showVerdict({ client, components }: ConfirmContext, card: PendingCard, verdict: Verdict): Promise<void> {
  await card.drawn;
  // A row that no tool can send stays, so that the message can still be told from an imitation of a card.
  const change = { content: decided(card.draw(card.state).content, verdict), components: [markRow(components.decide)] };
  await editCard(client, card, change);
}

/** Sends the answers in one message, except those for the member alone. */
async function sendAnswers(context: ConfirmContext, card: PendingCard, answers: readonly Answer[]): Promise<void> {
  const { callId, channelId, messageId, userId } = card;
  const channel = await findSendable(context.client, channelId);
  if (channel === undefined) return;
  const open = answers.filter(({ audience }) => audience === undefined);
  const alone = answers.filter(({ audience }) => audience !== undefined);
  const notice = open.every((answer) => answer.notice === true) || undefined;
  const together = open.length === 0 ? [] : [{ text: open.map(({ text }) => text).join('\n'), notice }];
  try {
    for (const [index, answer] of [...together, ...alone].entries()) {
      const key = index === 0 ? callId : `${callId}:${index}`;
      await sendAnswer(context, channel, answer, { callId: key, userId, replyTo: messageId });
    }
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    context.log.warn('the outcome of a call could not be posted', { callId, channelId, error });
  }
}
