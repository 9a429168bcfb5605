import { messageLink } from 'discord.js';
import { askForExtension, askForPlan, nextBatch, type Plan, type PlannedAction, toSequence } from '../planning/plan.js';
import type { RepetitionPattern } from '../repetition/analyse.js';
import { createBuffer } from './event-emitter.js';
import { type ActionOutcome, assertNotCancelled, executeAction } from './execute-action.js';
import type { ActiveRun } from './run.js';

const UNUSABLE = 'I could not make up my mind about that. Please say it again, or put it differently.';
const TOO_MUCH = 'I did not get to an answer: my plan was longer than I may go on for. Please ask for less at once.';
const CIRCLES = 'I was going round in circles, so I stopped. Please put it differently.';
const WORDLESS = 'I could not find the words for an answer. Please try again.';
const MOST_REASONING = 1_000;

/** How far a plan has been executed. */
interface PlanExecution {
  queue: readonly PlannedAction[];
  /** Whether the plan may be extended, and how often that was asked. */
  extensible: boolean;
  checks: number;
  /** An action had a result that could not be known: what the plan has written for later actions is void. */
  stale: boolean;
  /** It wanted to speak and could not. */
  wordless: boolean;
  /** What it was stopped from repeating. */
  repeated: RepetitionPattern | undefined;
}

/** Why a run has to stop. */
type Stop = 'bound' | 'end' | 'repetition';

/**
 * Plans, then executes action by action, extending the plan where it wants that. Always ends: every round counts against a bound.
 * Resolves with a sentence for the person who was to be answered, where the persona wanted to speak or plan and could not.
 */
export async function executePlan(active: ActiveRun): Promise<string | undefined> {
  const { events, sender } = active;
  const answer = await askForPlan(active);
  if (answer.kind === 'bound') {
    events.system('bound_reached', answer.message);
    return TOO_MUCH;
  }
  if (answer.kind === 'malformed') {
    events.system('plan_refused', answer.detail);
    return UNUSABLE;
  }
  const execution = begin(answer.value, active);
  while (execution.queue.length > 0) {
    const stop = await executeNext(execution, active);
    if (stop === 'repetition') return sender.texts.length > 0 ? undefined : saidAlready(execution, active);
    if (stop !== undefined) return stop === 'bound' && wantsToSpeak(execution) ? TOO_MUCH : undefined;
  }
  return execution.wordless ? WORDLESS : undefined;
}

function begin(plan: Plan, active: ActiveRun): PlanExecution {
  const queue = sequence(plan, active);
  active.events.system('planned', namesOf(queue) || 'nothing', plan.reasoning.slice(0, MOST_REASONING));
  return { queue, extensible: plan.can_extend, checks: 0, stale: false, wordless: false, repeated: undefined };
}

/** Executes the next batch. Returns why the run has to stop, if it has. */
async function executeNext(execution: PlanExecution, active: ActiveRun): Promise<Stop | undefined> {
  const { context, events, completed, sender } = active;
  const { maxActions } = context.settings;
  assertNotCancelled(context.run.signal);
  const batch = nextBatch(execution.queue).slice(0, Math.max(0, maxActions - completed.length));
  if (batch.length === 0) {
    events.system('bound_reached', `${maxActions} actions are the limit for one run`);
    return 'bound';
  }
  const outcomes = await executeBatch(batch, active);
  const stops = outcomes.map((outcome, index) => note(outcome, batch[index], execution, active));
  const stop = stops.find((one) => one !== undefined);
  if (stop === 'repetition' && execution.repeated?.kind === 'loop' && sender.texts.length === 0) {
    // Thinking in circles is no reason to leave a question without an answer.
    const speech = execution.queue.slice(batch.length).filter(({ action }) => action.kind === 'speech');
    if (speech.length === 0) return stop;
    Object.assign(execution, { queue: speech, extensible: false });
    return undefined;
  }
  if (stop !== undefined) return stop;
  execution.queue = execution.queue.slice(batch.length);
  if (execution.stale) execution.queue = execution.queue.map((planned) => ({ ...planned, result: undefined }));
  execution.stale = false;
  await extend(execution, active);
  return undefined;
}

/** Executes one action, or several at the same time; their events come one action after another. @throws when the run was cancelled */
async function executeBatch(batch: readonly PlannedAction[], active: ActiveRun): Promise<readonly ActionOutcome[]> {
  const { events, completed } = active;
  const all = batch.map((planned, index) => {
    const emitter = batch.length === 1 ? { ...events, flush: () => undefined } : createBuffer(events);
    const toolId = `action_${planned.action.name}_${completed.length + index + 1}`;
    return { outcome: executeAction(planned, toolId, active, emitter), flush: emitter.flush };
  });
  const results = await Promise.allSettled(all.map(({ outcome }) => outcome));
  for (const { flush } of all) flush();
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/** Notes how an action ended. Returns why the run has to stop, if it has. */
function note(
  outcome: ActionOutcome,
  planned: PlannedAction | undefined,
  execution: PlanExecution,
  { completed, events }: ActiveRun,
): Stop | undefined {
  switch (outcome.kind) {
    case 'end':
      return 'end';
    case 'bound':
      events.system('bound_reached', outcome.message);
      return 'bound';
    case 'repetition':
      events.system('repetition_stopped', `Stopped due to repetition: ${outcome.pattern.sentence}`);
      execution.repeated = outcome.pattern;
      return 'repetition';
    default:
      if (outcome.kind === 'done' && outcome.insteadOf !== undefined) {
        events.system('reworded', `Put another way, because it ${outcome.insteadOf.sentence}`);
      }
      completed.push(outcome.completed);
      execution.stale ||= outcome.kind === 'failed' || planned?.action.revealing === true || isNewThought(planned);
      if (planned?.action.kind === 'speech') execution.wordless = outcome.kind === 'failed';
      return undefined;
  }
}

/** The plan left the thought open: what it has written for afterwards was written without it. */
function isNewThought(planned: PlannedAction | undefined): boolean {
  return planned?.action.kind === 'thought' && (planned.result === undefined || planned.result === null);
}

/** Asks whether the plan should go on, while it may. */
async function extend(execution: PlanExecution, active: ActiveRun): Promise<void> {
  const { context, events } = active;
  if (!execution.extensible || execution.checks >= context.settings.maxExtensions) return;
  execution.checks += 1;
  const answer = await askForExtension(active);
  // Without an answer, what was planned before can still go on as far as its results are there.
  execution.extensible = answer.kind === 'answer' && answer.value.can_extend;
  if (answer.kind === 'malformed') events.system('plan_refused', `an extension: ${answer.detail}`);
  if (answer.kind !== 'answer') return;
  const added = sequence(answer.value, active);
  if (added.length === 0) return;
  execution.queue = [...execution.queue.filter(({ action }) => action.kind !== 'end'), ...added];
  events.system('extended', `added: ${namesOf(added)}`, answer.value.reasoning.slice(0, MOST_REASONING));
}

function sequence({ actions }: Plan, { repertoire, context, completed, events }: ActiveRun): readonly PlannedAction[] {
  const done = completed.map(({ action }) => action);
  // One more than fits: a plan that is too long reaches the bound, and an event says so.
  const most = context.settings.maxActions + 1;
  const { planned, dropped, surplus } = toSequence(actions, repertoire, most, done);
  for (const name of dropped) events.system('action_dropped', `there is no action called ${JSON.stringify(name)}`);
  if (surplus > 0) events.system('action_dropped', `${surplus} more than one run may carry out`);
  return planned;
}

/** For the person who was to be answered, where all that was left to say had been said: silence would be no answer. */
function saidAlready(execution: PlanExecution, { context }: ActiveRun): string | undefined {
  const { repeated, extensible } = execution;
  if (repeated === undefined) return undefined;
  if (repeated.kind === 'loop') return extensible || wantsToSpeak(execution) ? CIRCLES : undefined;
  const { place, lines } = context.run;
  const { guildId, channelId } = place;
  const line = lines.findLast(({ userId, text }) => userId === null && text.startsWith(repeated.earlier));
  const [messageId] = line?.messageIds ?? [];
  if (messageId === undefined) return 'I have just told you that.';
  return `I have just told you that: ${guildId === null ? messageLink(channelId, messageId) : messageLink(channelId, messageId, guildId)}`;
}

const wantsToSpeak = ({ queue }: PlanExecution): boolean => queue.some(({ action }) => action.kind === 'speech');

const namesOf = (planned: readonly PlannedAction[]): string => planned.map(({ action }) => action.name).join(', ');
