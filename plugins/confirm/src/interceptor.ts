import {
  createKeyedMutex,
  findSendable,
  type Interceptor,
  type Outcome,
  type SettledOutcome,
  type ToolCall,
  type ToolStep,
  t,
} from '@cinnabar/sdk';
import type { ConfirmContext, Rules } from './context.js';
import { expireCard, expireOverdue, isOverdue } from './decisions.js';
import { allowanceFor } from './grants.js';
import { answerOf, REASONS, sendAnswer } from './outcomes.js';
import type { HeldCall } from './pending-cards.js';
import { postCards } from './posting.js';

/** Limit of pending cards for one guild: some requesters never return, and their cards must not fill the memory. */
const MOST_WAITING = 1000;

/** Creates the interceptor that holds calls until their requester has confirmed them. */
export function createInterceptor(context: ConfirmContext): Interceptor {
  const { cards, grants, log, policies, signal, guildSettings } = context;
  const posting = createKeyedMutex();
  const steps = new WeakMap<ToolStep, { held: HeldCall[]; posted: ReturnType<typeof postCards> }>();
  /** Number of calls by member whose card is not posted yet. */
  const coming = new Map<string, number>();

  return {
    name: 'confirm',
    order: 100,
    async handle(call, next) {
      const rules = await guildSettings((call.at ?? call.actor).guildId).get();
      if (!needsConfirmation(call, rules)) return next();
      if (readsForTask(call, rules)) return readForTask(context, call, next);
      const allowance = await allowanceFor(call, rules, policies);
      // A grant for a task does not allow others to see a private result.
      const approval = call.reading === 'private' ? undefined : await grants.covering(call, allowance);
      await call.hold();
      if (approval !== undefined) {
        // Recorded as the member's decision, so the host checks the member's rights once more before the call is executed.
        await call.approve(approval.byUserId);
        log.info('a call was let through by what was allowed for its task', {
          callId: call.id,
          session: call.session?.id,
          approval: approval.id,
        });
        return next();
      }
      await expireOverdue(context, call.actor.userId);
      if (signal.aborted) return { status: 'expired', callId: call.id, reason: REASONS.restarted };
      await makeRoom(call);
      const reason = reserve(call, rules);
      if (reason !== undefined)
        return { status: 'denied', callId: call.id, reason: t('Not run: {reason}.', { reason }) };
      return ask({ call, run: next, rules, allowance });
    },
  };

  /** Ends overdue cards of the guild if there are too many; a pending decision is never discarded. */
  async function makeRoom({ actor }: ToolCall): Promise<void> {
    const there = cards.at(actor);
    if (there.size < MOST_WAITING) return;
    const overdue = [...there].filter((card) => isOverdue(context, card));
    await Promise.all(overdue.map((card) => expireCard(context, card, 'timedOut')));
  }

  /** Counts a call whose card will be posted, or returns why it may not have one. */
  function reserve({ actor }: ToolCall, { maxOpen }: Rules): string | undefined {
    const ahead = coming.get(actor.userId) ?? 0;
    const open = cards.of(actor.userId).reduce((sum, { requests }) => sum + requests.length, ahead);
    if (open >= maxOpen) {
      return t('{count} requests of this member wait for a decision already: they have to be decided first', {
        count: open,
      });
    }
    if (cards.at(actor).size >= MOST_WAITING) return t('too many requests are waiting here');
    coming.set(actor.userId, ahead + 1);
    return undefined;
  }

  async function ask(heldCall: HeldCall): Promise<Outcome> {
    const { call } = heldCall;
    const { userId } = call.actor;
    try {
      const step = isDecidedWithOthers(call) ? call.step : undefined;
      const outcomes = await (step === undefined ? post([heldCall]) : postWithStep(heldCall, step));
      return outcomes.get(call.id) ?? { status: 'expired', callId: call.id, reason: REASONS.undelivered };
    } finally {
      const left = (coming.get(userId) ?? 1) - 1;
      if (left === 0) coming.delete(userId);
      else coming.set(userId, left);
    }
  }

  /** The first call of a step waits until its other calls have arrived, and posts one card for all of them. */
  async function postWithStep(heldCall: HeldCall, step: ToolStep) {
    const group = steps.get(step);
    if (group !== undefined) {
      group.held.push(heldCall);
      await step.rest();
      return group.posted;
    }
    const held: [HeldCall, ...HeldCall[]] = [heldCall];
    const posted = step.rest().then(() => post(held));
    steps.set(step, { held, posted });
    return posted;
  }

  /** Posts the cards of a channel one after another. */
  function post(held: readonly [HeldCall, ...HeldCall[]]) {
    return posting.run(held[0].call.actor.channelId, () => postCards(context, held));
  }
}

/**
 * Whether a call of a task needs no decision, because it only reads and its member is away. It needs one if admins or an agent's grant require it, or if not
 * everyone in the task's channel may read the result, because the member chooses who gets it.
 */
function readsForTask({ session, tool, policy, reading }: ToolCall, { readsInTasks }: Rules): boolean {
  return readsInTasks && session !== undefined && tool.risk === 'read' && policy === undefined && reading !== 'private';
}

/** Executes the call. A result that turns out to be more private than the task's channel is sent to the member only. */
async function readForTask(
  context: ConfirmContext,
  call: ToolCall,
  next: () => Promise<SettledOutcome>,
): Promise<SettledOutcome> {
  call.keepPrivate();
  const outcome = await next();
  if (outcome.status !== 'done' || outcome.audience === undefined) return outcome;
  const { id: callId, actor } = call;
  try {
    const channel = await findSendable(context.client, actor.channelId);
    if (channel !== undefined) {
      await sendAnswer(context, channel, answerOf(outcome), { callId, userId: actor.userId });
    }
  } catch (error) {
    context.log.warn('a member could not be given the result of a call', { callId, error });
  }
  return outcome;
}

/** Whether a call shares a card with others. A call of a task has its own card, and so has one whose result may not be for all readers. */
function isDecidedWithOthers({ session, reading }: ToolCall): boolean {
  return session === undefined && (reading === 'nothing' || reading === 'open');
}

/** Whether a call needs a confirmation. The host's policy and the guild's settings decide this; the arguments do not matter. */
function needsConfirmation({ policy, tool }: ToolCall, { require }: Rules): boolean {
  if (policy === 'allow') return false;
  return policy === 'confirm' || require.includes(tool.risk);
}
