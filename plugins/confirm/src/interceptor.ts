import {
  createKeyedMutex,
  type Interceptor,
  type Outcome,
  type Settings,
  type SettledOutcome,
  type ToolCall,
  type ToolPolicies,
  type ToolStep,
} from '@cinnabar/sdk';
import { answerOf } from './decisions.js';
import { REASONS } from './expiry.js';
import { allowanceFor, type Grants } from './grants.js';
import { channelOf, give } from './messages.js';
import { requestsOf } from './pending-cards.js';
import { type AskingParts, ask, type Question } from './posting.js';
import { type Rules, rulesIn, type settings } from './settings.js';

interface Parts extends AskingParts {
  readonly guildSettings: Settings<typeof settings>['guild'];
  readonly policies: ToolPolicies;
  readonly grants: Grants;
}

/** In one guild: some requesters are never heard of again, and their cards must not fill the memory. */
const MOST_WAITING = 1000;

/** Holds calls until their requester has confirmed them. */
export function createInterceptor(parts: Parts): Interceptor {
  const cards = createKeyedMutex();
  const steps = new WeakMap<ToolStep, { readonly questions: Question[]; readonly asked: ReturnType<typeof ask> }>();
  /** Calls by member that will have a card, but have none yet. */
  const asking = new Map<string, number>();

  /** Only overdue cards make room: a decision that can still be made is never taken away. */
  const makeRoom = async ({ actor }: ToolCall) => {
    const there = parts.board.at(actor);
    if (there.size < MOST_WAITING) return;
    const { expiry } = parts;
    await Promise.all([...there].filter(expiry.isOverdue).map((card) => expiry.expire(card, 'timedOut')));
  };
  /** Counts a card that is to come, or says why there may be none. */
  const reserve = ({ actor }: ToolCall, { maxOpen }: Rules): string | undefined => {
    const coming = asking.get(actor.userId) ?? 0;
    const waiting = [...(parts.board.of(actor.userId) ?? [])].map((card) => requestsOf(card).length);
    const open = waiting.reduce((sum, calls) => sum + calls, coming);
    if (open >= maxOpen) {
      return `${open} requests of this member wait for a decision already: they have to be decided first`;
    }
    if (parts.board.at(actor).size >= MOST_WAITING) return 'too many requests are waiting here';
    asking.set(actor.userId, coming + 1);
    return undefined;
  };
  /** Several calls may come at once; their cards appear one after another. */
  const askAll = (questions: readonly [Question, ...Question[]]) =>
    cards.run(questions[0].call.actor.channelId, () => ask(parts, questions));
  const askInStep = async (question: Question, step: ToolStep) => {
    const group = steps.get(step);
    if (group !== undefined) {
      group.questions.push(question);
      await step.rest();
      return group.asked;
    }
    const questions: [Question, ...Question[]] = [question];
    const asked = step.rest().then(() => askAll(questions));
    steps.set(step, { questions, asked });
    return asked;
  };
  const askFor = async (question: Question): Promise<Outcome> => {
    const { call } = question;
    const { userId } = call.actor;
    try {
      const step = isDecidedWithOthers(call) ? call.step : undefined;
      const outcomes = await (step === undefined ? askAll([question]) : askInStep(question, step));
      return outcomes.get(call.id) ?? { status: 'expired', callId: call.id, reason: REASONS.undelivered };
    } finally {
      const left = (asking.get(userId) ?? 1) - 1;
      if (left === 0) asking.delete(userId);
      else asking.set(userId, left);
    }
  };

  return {
    name: 'confirm',
    order: 100,
    async handle(call, next) {
      const rules = await rulesIn(parts.guildSettings, (call.at ?? call.actor).guildId);
      if (!needsConfirmation(call, rules)) return next();
      if (readsForTask(call, rules)) return readForTask(parts, call, next);
      const allowance = await allowanceFor(call, rules, parts.policies);
      // What was allowed for a task does not say that others may be told what it reads.
      const approval = call.reading === 'private' ? undefined : await parts.grants.covering(call, allowance);
      await call.hold();
      if (approval !== undefined) {
        // On record as their decision: the host looks at their rights once more before it runs.
        await call.approve(approval.byUserId);
        parts.log.info('a call was let through by what was allowed for its task', {
          callId: call.id,
          session: call.session?.id,
          approval: approval.id,
        });
        return next();
      }
      await parts.expiry.expireOverdue(call.actor.userId);
      if (parts.signal.aborted) return { status: 'expired', callId: call.id, reason: REASONS.restarted };
      await makeRoom(call);
      const reason = reserve(call, rules);
      if (reason !== undefined) return { status: 'denied', callId: call.id, reason: `Not run: ${reason}.` };
      return askFor({ call, run: next, rules, allowance });
    },
  };
}

/**
 * A task works while its member is away, and reading changes nothing. What an admin or an agent's grant wants confirmed is asked about all the
 * same; so is what not everybody in the task's channel may read, where the member chooses who gets the result.
 */
function readsForTask({ session, tool, policy, reading }: ToolCall, { readsInTasks }: Rules): boolean {
  return readsInTasks && session !== undefined && tool.risk === 'read' && policy === undefined && reading !== 'private';
}

/** Runs it; a result that turns out to be more private than the task's channel goes to the member alone. */
async function readForTask(
  { client, clock, signal, log }: Parts,
  call: ToolCall,
  next: () => Promise<SettledOutcome>,
): Promise<SettledOutcome> {
  call.keepPrivate();
  const outcome = await next();
  if (outcome.status !== 'done' || outcome.audience === undefined) return outcome;
  const { id: callId, actor } = call;
  try {
    const channel = await channelOf(client, actor.channelId);
    if (channel !== undefined) {
      await give({ client, clock, signal }, channel, { callId, userId: actor.userId }, answerOf(outcome));
    }
  } catch (error) {
    log.warn('a member could not be given the result of a call', { callId, error });
  }
  return outcome;
}

/** A call of a task has decisions of its own, and so has one whose result may not be for all. */
function isDecidedWithOthers({ session, reading }: ToolCall): boolean {
  return session === undefined && (reading === 'nothing' || reading === 'open');
}

/** The host and the guild decide this, never the call: no argument of a tool is looked at. */
function needsConfirmation({ policy, tool }: ToolCall, { require }: Rules): boolean {
  if (policy === 'allow') return false;
  return policy === 'confirm' || require.includes(tool.risk);
}
