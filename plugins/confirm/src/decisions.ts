import {
  type Clock,
  findSendable,
  isUnreachable,
  type Registrar,
  type SettledOutcome,
  type ToolCall,
  t,
  withinLimit,
} from '@cinnabar/sdk';
import type { ConfirmContext } from './context.js';
import { markRow } from './controls.js';
import type { Pattern } from './grants.js';
import {
  type Answer,
  answerOf,
  cancellation,
  editCard,
  endCard,
  fetchReaction,
  LEFT_OUT,
  REASONS,
  sendAnswer,
} from './outcomes.js';
import type { PendingCard, Request } from './pending-cards.js';
import { resolveCard } from './recovery.js';
import { decided, type Ending, inert, type Verdict } from './render.js';

/**
 * A member's decision. `pattern` approves later calls of the task, too; `share` posts the result in the place of the request although some readers there cannot
 * read its source; `reason` is given to the model.
 */
export type Decision =
  | { readonly approved: true; readonly pattern?: Pattern; readonly share?: 'here' }
  | { readonly approved: false; readonly reason?: string };

/** The outcome of a call, and the answer for its member; without an answer, the ledger has the result. */
interface Result {
  readonly outcome: SettledOutcome;
  readonly answer: Answer | undefined;
}

const failed = () => t('Something went wrong, and it is in the log. Please ask again.');
const onceOnly = () =>
  t('This ran, but what you allowed for the rest of the task could not be saved: you will be asked again.');
const ELSEWHERE = 'it was decided before, in another place';

/** Carries out the requester's first decision. Resolves with `false` when the card was decided before, or has ended. */
export async function decide(context: ConfirmContext, card: PendingCard, decision: Decision): Promise<boolean> {
  if (!context.cards.take(card)) return false;
  context.cards.setDecider(card.messageId, card.userId);
  await context.languages.speak(card, () => carryOut(context, card, decision));
  return true;
}

async function carryOut(context: ConfirmContext, card: PendingCard, decision: Decision): Promise<void> {
  const { languages, records, outbox, clock, log } = context;
  const { callId } = card;
  const verdict = { approved: decision.approved, userId: card.userId, at: clock.now() };
  // The decision on all of the card's calls is written before the first of them is executed.
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
    request.resolve(outcome);
    answers.push(answer);
    if (outcome.status === 'failed') {
      // Logged for the operator in addition to the answer; the host has logged defects as errors.
      const { id, tool } = request.call;
      log.info('a confirmed call failed', { callId: id, tool: tool.name, error: outcome.error });
    }
  }
  // The verdict is shown before the result, which is a reply to the card.
  const isShown = await shown;
  await outbox.put(callId, async () => {
    const known = answers.filter((answer) => answer !== undefined);
    if (known.length < answers.length) return resolveCard(context, callId);
    await languages.speak(card, () => sendAnswers(context, card, known));
    if (!isShown) await languages.speak(card, () => showVerdict(context, card, verdict));
    await records.delete(callId);
  });
  if (decision.approved && decision.pattern !== undefined) await decideCovered(context, card);
}

/** Records the decision on one call; the returned function carries it out. */
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
  // The grant is stored before the call is executed, because the task's next call may follow at once.
  const isKept = pattern === undefined || (await keepGrant(context, call, pattern));
  const outcome = await run();
  const answer = answerOf(outcome);
  return { outcome, answer: isKept ? answer : { ...answer, text: `${answer.text}\n${onceOnly()}` } };
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

/** The result after an error: the ledger could not be written, or an inner interceptor threw. The call was not executed, or the ledger has its outcome. */
function broken({ log }: ConfirmContext, { call }: Request, error: unknown): Result {
  log.error('a decision could not be carried out', { callId: call.id, error });
  const failure = { code: 'CINNABAR_TOOL_FAILED', message: failed() } as const;
  return { outcome: { status: 'failed', callId: call.id, error: failure }, answer: { text: failed() } };
}

/** Approves other pending calls that a new grant for the task covers: a step may request several calls at once. */
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
  // The row stays, because no tool can send one: it distinguishes the message from an imitation of a card.
  const change = { content: decided(card.draw(card.state).content, verdict), components: [markRow(components.decide)] };
  await editCard(client, card, change);
}

/** Sends the answers in one message, except those for the member only. */
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

/** Time limit for ending cards at a stop, which must not wait for Discord's rate limits. The next start ends the others. */
const STOP_MS = 3_000;

export function isOverdue({ clock }: Pick<ConfirmContext, 'clock'>, card: PendingCard): boolean {
  return clock.now() > card.expiresAt;
}

/** Ends the calls, then shows this on the card. Does nothing if the card is no longer pending. */
export async function expireCard(
  context: ConfirmContext,
  card: PendingCard,
  reason: Exclude<keyof typeof REASONS, 'deleted'> & Ending,
): Promise<void> {
  const { cards, languages, outbox, records, client } = context;
  if (!cards.take(card)) return;
  const { callId } = card;
  const ends = await Promise.all(card.requests.map((request) => endCall(context, request, REASONS[reason])));
  if (!ends.every(Boolean)) return outbox.put(callId, () => resolveCard(context, callId));
  await outbox.put(callId, async () => {
    await card.drawn;
    const ending = reason === 'timedOut' ? await timeoutEnding(context, card) : reason;
    await languages.speak(card, () => endCard(client, { ...card, content: card.draw(card.state).content }, ending));
    await records.delete(callId);
  });
}

/** Ends cards when their requester writes after the time has passed, and when their message is deleted. Cards of conversations have no timers. */
export function watchMessages(on: Registrar['on'], context: ConfirmContext): void {
  // Called for every message: one look-up unless the author has a pending card.
  on(
    'messageCreate',
    ({ author }) => (context.cards.of(author.id).length === 0 ? undefined : expireOverdue(context, author.id)),
    { hearsIgnored: true },
  );
  on('messageDelete', ({ id }) => expireDeleted(context, id));
  on('messageDeleteBulk', (messages) => Promise.all(messages.map(({ id }) => expireDeleted(context, id))));
}

/** Like `expireCard`, for a card whose message was deleted. */
async function expireDeleted(context: ConfirmContext, messageId: string): Promise<void> {
  const card = context.cards.on(messageId);
  if (card === undefined || !context.cards.take(card)) return;
  await Promise.all(card.requests.map((request) => endCall(context, request, REASONS.deleted)));
  await context.records.delete(card.callId);
}

/** Ends all overdue cards of a member at once: no call may look undecided while the card of another is being edited. */
export async function expireOverdue(context: ConfirmContext, userId: string): Promise<void> {
  const overdue = context.cards.of(userId).filter((card) => isOverdue(context, card));
  await Promise.all(overdue.map((card) => expireCard(context, card, 'timedOut')));
}

/** Ends the overdue cards of tasks, of all members. Called every minute, because a task waits for its card only. */
export async function expireTaskCards(context: ConfirmContext): Promise<void> {
  const overdue = context.cards
    .all()
    .filter((card) => card.requests[0].call.session !== undefined && isOverdue(context, card));
  await Promise.all(overdue.map((card) => expireCard(context, card, 'timedOut')));
}

/** Ends all pending cards when the plugin stops: cancels the calls, then edits the cards. */
export async function expireAll(context: ConfirmContext): Promise<void> {
  const end = (card: PendingCard) => expireCard(context, card, isOverdue(context, card) ? 'timedOut' : 'restarted');
  await withinLimit(context.clock, STOP_MS, Promise.allSettled(context.cards.all().map(end)));
}

/** Resolves with `false` when a decision came first, in any process. */
async function endCall({ log }: ConfirmContext, { call, resolve }: Request, reason: string): Promise<boolean> {
  const callId = call.id;
  try {
    return await call.expire(reason);
  } catch (error) {
    // The card was removed, so the call cannot be decided: it has ended, recorded or not. The host tries once more to record it.
    log.error('the end of a call could not be saved', { callId, error });
    return true;
  } finally {
    // The ledger decides: after an earlier decision, the actual outcome replaces this one.
    resolve({ status: 'expired', callId, reason });
  }
}

/**
 * The ending of an overdue card. If the bot was disconnected when the time ended, it may have received a 👍 too late, so the card must not say that there was
 * none in time.
 */
async function timeoutEnding(
  { client, outages }: ConfirmContext,
  { guildId, channelId, messageId, userId, expiresAt }: PendingCard,
): Promise<Ending> {
  // Direct messages arrive on the first shard.
  const { shardId = 0 } = client.guilds.cache.get(guildId ?? '') ?? {};
  if (!outages.wasDown(shardId, expiresAt)) return 'timedOut';
  const choice = await fetchReaction(await findSendable(client, channelId), messageId, userId);
  if (choice === undefined) return 'timedOut';
  return choice === 'approve' ? 'cutOff' : 'cancelled';
}

/** Number of kept outages of a shard. Cards are ended soon after their time, so the latest few are enough. */
const MOST_REMEMBERED = 20;

interface Outage {
  readonly from: number;
  /** In ms since the Unix epoch; `Infinity` while the outage lasts. */
  readonly to: number;
}

/**
 * Records when the bot was disconnected from Discord's gateway, and could not receive members' reactions in time.
 * @param onLost called when Discord will not send the missed events, because the session was lost
 */
export function watchOutages(on: Registrar['on'], clock: Clock, onLost: () => unknown) {
  const outages = new Map<number, readonly Outage[]>();
  const isDown = (shardId: number) => outages.get(shardId)?.at(-1)?.to === Number.POSITIVE_INFINITY;
  const end = (shardId: number): boolean => {
    const last = outages.get(shardId)?.at(-1);
    if (last === undefined || !isDown(shardId)) return false;
    const ended = { from: last.from, to: clock.now() };
    outages.set(shardId, [...(outages.get(shardId)?.slice(0, -1) ?? []), ended]);
    return true;
  };
  on('shardReconnecting', (shardId) => {
    if (isDown(shardId)) return;
    const begun = { from: clock.now(), to: Number.POSITIVE_INFINITY };
    outages.set(shardId, [...(outages.get(shardId) ?? []), begun].slice(-MOST_REMEMBERED));
  });
  on('shardResume', (shardId) => void end(shardId));
  on('shardReady', (shardId) => (end(shardId) ? onLost() : undefined));
  return {
    /** Whether the shard was disconnected at that time, in ms since the Unix epoch. */
    wasDown: (shardId: number, at: number): boolean =>
      outages.get(shardId)?.some(({ from, to }) => from <= at && at <= to) === true,
  };
}

export type ShardOutages = ReturnType<typeof watchOutages>;

/** Ends a card when its call is no longer needed: the task was stopped, or the caller has ended. */
export function withdrawOnAbort(context: ConfirmContext, card: PendingCard, settled: Promise<SettledOutcome>): void {
  const { signal } = card.requests[0].call;
  const withdraw = () => {
    expireCard(context, card, 'withdrawn').catch((error: unknown) => {
      context.log.error('a card could not be withdrawn', { callId: card.callId, error });
    });
  };
  if (signal.aborted) withdraw();
  else {
    signal.addEventListener('abort', withdraw, { once: true });
    // A task's signal outlives many cards, so their listeners are removed.
    void settled.finally(() => signal.removeEventListener('abort', withdraw));
  }
}
