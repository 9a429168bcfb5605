import { type PersonaChain, type PersonaTrigger, t, z } from '@cinnabar/sdk';
import { messageLink } from 'discord.js';
import type { Action } from '../actions/action.js';
import { type ActionOutcome, assertNotCancelled, executeAction } from './execute-action.js';
import type { Answer } from './prompt.js';
import type { RepetitionPattern } from './repetition.js';
import type { ActiveRun } from './run.js';

const step = z.object({
  action: z.string().describe('Name of an action or chain'),
  context: z.string().default('').describe('What it should focus on here'),
  result: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('The result already, in the form that the action states; null where it depends on what comes before'),
});
/** An action that is planned. */
type Step = z.output<typeof step>;

/** A planner's answer. Names and results are validated later, so that one invalid action does not affect the others. */
const planSchema = z.object({
  reasoning: z.string().default('').describe('Why this sequence, in a sentence or two'),
  actions: z.array(step).describe('In the order in which to carry them out; empty to do nothing'),
  can_extend: z.boolean().default(false).describe('Whether I may want to add actions when I see what comes of these'),
});
type Plan = z.output<typeof planSchema>;

/** Asks the model for a plan for the trigger. One request plans several actions, and may give their results. */
const askForPlan = (active: ActiveRun): Promise<Answer<Plan>> =>
  ask(active, 'plan', QUESTIONS[active.context.run.trigger.type]);

/** Asks for further actions after some were carried out. */
const askForExtension = (active: ActiveRun): Promise<Answer<Plan>> =>
  ask(
    active,
    'extension',
    'I have done what stands in <done>, and the rest of my plan is still to come. Which actions, if any, do I add at its end? An empty list adds none; can_extend says whether I want to be asked again.',
  );

async function ask(active: ActiveRun, name: string, question: string): Promise<Answer<Plan>> {
  const { images } = active.context.attachments;
  const prompt = await active.prompt(question);
  return active.ask({ name, schema: planSchema, system: active.system, prompt, images });
}

const QUESTIONS: Readonly<Record<PersonaTrigger['type'], string>> = {
  user_input: 'What do I do next?',
  tool_result: 'What do I do next? The member who asked may have seen the result already.',
  timer: 'Do I do anything of my own accord? Mostly I do not speak.',
  self_reflection:
    'What follows from it for me? I use REFLECT to keep what I conclude; there is mostly no need to speak.',
  reaction: 'What do I make of it? There is mostly no need to speak.',
  member_joined: 'Do I welcome them, and how?',
};

/** An action that is going to be carried out. */
export interface PlannedAction {
  readonly action: Action;
  readonly context: string;
  /** As the plan gives it; validated when the action is executed. */
  readonly result: unknown;
}

interface Sequence {
  readonly planned: readonly PlannedAction[];
  /** Names in the plan that no action has. */
  readonly dropped: readonly string[];
  /** Number of actions left out because of the limit. */
  readonly surplus: number;
}

const MAX_NAMED = 5;
const MAX_CONTEXT = 2_000;

/**
 * The actions of a plan: chains expanded, unknown names removed, at most `most` actions, none after the end, each after its dependencies.
 * @param completed names of actions that were executed before
 */
export function toSequence(
  steps: readonly Step[],
  { actions, chains }: { readonly actions: readonly Action[]; readonly chains: readonly PersonaChain[] },
  most: number,
  completed: readonly string[] = [],
): Sequence {
  const byName = new Map(actions.map((action) => [action.name, action]));
  const chainByName = new Map(chains.map((chain) => [chain.name, chain.actions]));
  const planned: PlannedAction[] = [];
  const dropped: string[] = [];
  let surplus = 0;
  for (const { action: named, context, result } of steps) {
    const name = named.trim().toUpperCase();
    const chain = chainByName.get(name);
    for (const part of chain ?? [name]) {
      const action = byName.get(part);
      if (planned.length >= most) surplus += 1;
      else if (action !== undefined)
        planned.push({
          action,
          context: context.slice(0, MAX_CONTEXT),
          result: chain === undefined ? result : undefined,
        });
      else if (chain === undefined && dropped.length < MAX_NAMED) dropped.push(named.slice(0, 40));
    }
  }
  return { planned: inOrder(untilEnd(planned), completed), dropped, surplus };
}

function untilEnd(planned: readonly PlannedAction[]): readonly PlannedAction[] {
  const end = planned.findIndex(({ action }) => action.kind === 'end');
  return end < 0 ? planned : planned.slice(0, end + 1);
}

/** Orders actions after their dependencies; an action moves back only as far as necessary. Circular dependencies keep the plan's order. */
function inOrder(planned: readonly PlannedAction[], completed: readonly string[]): readonly PlannedAction[] {
  const ordered: PlannedAction[] = [];
  const done = new Set(completed);
  let left = [...planned];
  while (left.length > 0) {
    const waiting = new Set(left.map(({ action }) => action.name));
    const isReady = ({ action }: PlannedAction) =>
      action.after.every((name) => name === action.name || done.has(name) || !waiting.has(name));
    // The end action stays last.
    const next = left.find((one) => isReady(one) && (one.action.kind !== 'end' || left.length === 1)) ?? left[0];
    if (next === undefined) break;
    ordered.push(next);
    done.add(next.action.name);
    left = left.filter((one) => one !== next);
  }
  return ordered;
}

/** The next actions: one, or several adjacent ones that may run concurrently. */
export function nextBatch(planned: readonly PlannedAction[]): readonly PlannedAction[] {
  const batch: PlannedAction[] = [];
  for (const one of planned) {
    const names = batch.map(({ action }) => action.name);
    const fits =
      one.action.parallel && !names.includes(one.action.name) && !one.action.after.some((name) => names.includes(name));
    if (batch.length > 0 && !fits) break;
    batch.push(one);
    if (!one.action.parallel) break;
  }
  return batch;
}

const tooMuch = () =>
  t('I did not get to an answer: my plan was longer than I may go on for. Please ask for less at once.');
const MOST_REASONING = 1_000;

/** How far a plan has been executed. */
interface PlanExecution {
  queue: readonly PlannedAction[];
  /** Whether the plan may be extended, and how many times the model was asked. */
  extensible: boolean;
  checks: number;
  /** An action had an unpredictable result, so results in the plan for later actions are invalid. */
  stale: boolean;
  /** The last text that the persona tried to say failed. */
  wordless: boolean;
  /** The repetition that ended the run. */
  repeated: RepetitionPattern | undefined;
}

/** Why a run has to stop. */
type Stop = 'bound' | 'end' | 'repetition';

/**
 * Plans, then executes action by action, and asks for extensions that the plan announces. Always ends, because every round counts against a limit. Resolves
 * with a sentence for the answered person when the persona could not plan or speak.
 */
export async function executePlan(active: ActiveRun): Promise<string | undefined> {
  const { events, sender } = active;
  const answer = await askForPlan(active);
  if (answer.kind === 'bound') {
    events.system('bound_reached', answer.message);
    return tooMuch();
  }
  if (answer.kind === 'malformed') {
    events.system('plan_refused', answer.detail);
    return t('I could not make up my mind about that. Please say it again, or put it differently.');
  }
  const execution = startExecution(answer.value, active);
  while (execution.queue.length > 0) {
    const stop = await executeNext(execution, active);
    if (stop === 'repetition') return sender.texts.length > 0 ? undefined : repetitionNotice(execution, active);
    if (stop !== undefined) return stop === 'bound' && wantsToSpeak(execution) ? tooMuch() : undefined;
  }
  return execution.wordless ? t('I could not find the words for an answer. Please try again.') : undefined;
}

function startExecution(plan: Plan, active: ActiveRun): PlanExecution {
  const queue = sequence(plan, active);
  active.events.system('planned', namesOf(queue) || t('nothing'), plan.reasoning.slice(0, MOST_REASONING));
  return { queue, extensible: plan.can_extend, checks: 0, stale: false, wordless: false, repeated: undefined };
}

/** Executes the next batch. Returns the reason to stop the run, if there is one. */
async function executeNext(execution: PlanExecution, active: ActiveRun): Promise<Stop | undefined> {
  const { context, events, completed, sender } = active;
  const { maxActions } = context.settings;
  assertNotCancelled(context.run.signal);
  const batch = nextBatch(execution.queue).slice(0, Math.max(0, maxActions - completed.length));
  if (batch.length === 0) {
    events.system('bound_reached', t('{count} actions are the limit for one run', { count: maxActions }));
    return 'bound';
  }
  const outcomes = await executeBatch(batch, active);
  const stops = outcomes.map((outcome, index) => recordOutcome(outcome, batch[index], execution, active));
  const stop = stops.find((one) => one !== undefined);
  if (stop === 'repetition' && execution.repeated?.kind === 'loop' && sender.texts.length === 0) {
    // After a loop, only planned texts are left, so that a question gets an answer.
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

/** Executes one action, or several concurrently; the events are emitted one action after another. @throws when the run was cancelled */
async function executeBatch(batch: readonly PlannedAction[], active: ActiveRun): Promise<readonly ActionOutcome[]> {
  const { events, completed } = active;
  const all = batch.map((planned, index) => {
    const emitter = batch.length === 1 ? { ...events, flush: () => undefined } : events.buffered();
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

/** Records how an action ended. Returns the reason to stop the run, if there is one. */
function recordOutcome(
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
      events.system('repetition_stopped', t('Stopped due to repetition: {what}', { what: outcome.pattern.sentence }));
      execution.repeated = outcome.pattern;
      return 'repetition';
    default:
      if (outcome.kind === 'done' && outcome.insteadOf !== undefined) {
        events.system('reworded', t('Put another way, because it {repeats}', { repeats: outcome.insteadOf.sentence }));
      }
      completed.push(outcome.completed);
      execution.stale ||= outcome.kind === 'failed' || planned?.action.revealing === true || isNewThought(planned);
      if (planned?.action.kind === 'speech') execution.wordless = outcome.kind === 'failed';
      return undefined;
  }
}

/** Whether the plan had no text for a thought: then its texts for later actions do not consider the thought. */
function isNewThought(planned: PlannedAction | undefined): boolean {
  return planned?.action.kind === 'thought' && (planned.result === undefined || planned.result === null);
}

/** Asks the model for an extension, within the limit of extensions. */
async function extend(execution: PlanExecution, active: ActiveRun): Promise<void> {
  const { context, events } = active;
  if (!execution.extensible || execution.checks >= context.settings.maxExtensions) return;
  execution.checks += 1;
  const answer = await askForExtension(active);
  // Without an answer, the rest of the plan is executed.
  execution.extensible = answer.kind === 'answer' && answer.value.can_extend;
  if (answer.kind === 'malformed')
    events.system('plan_refused', t('an extension: {detail}', { detail: answer.detail }));
  if (answer.kind !== 'answer') return;
  const added = sequence(answer.value, active);
  if (added.length === 0) return;
  execution.queue = [...execution.queue.filter(({ action }) => action.kind !== 'end'), ...added];
  events.system(
    'extended',
    t('added: {actions}', { actions: namesOf(added) }),
    answer.value.reasoning.slice(0, MOST_REASONING),
  );
}

function sequence({ actions }: Plan, { repertoire, context, completed, events }: ActiveRun): readonly PlannedAction[] {
  const done = completed.map(({ action }) => action);
  // One more than the limit, so that a plan that is too long is noticed and leads to an event.
  const most = context.settings.maxActions + 1;
  const { planned, dropped, surplus } = toSequence(actions, repertoire, most, done);
  for (const name of dropped)
    events.system('action_dropped', t('there is no action called {name}', { name: JSON.stringify(name) }));
  if (surplus > 0) events.system('action_dropped', t('{count} more than one run may carry out', { count: surplus }));
  return planned;
}

/** The sentence for the answered person when all remaining texts were repetitions. */
function repetitionNotice(execution: PlanExecution, { context }: ActiveRun): string | undefined {
  const { repeated, extensible } = execution;
  if (repeated === undefined) return undefined;
  if (repeated.kind === 'loop')
    return extensible || wantsToSpeak(execution)
      ? t('I was going round in circles, so I stopped. Please put it differently.')
      : undefined;
  const { place, lines } = context.run;
  const { guildId, channelId } = place;
  const line = lines.findLast(({ userId, text }) => userId === null && text.startsWith(repeated.earlier));
  const [messageId] = line?.messageIds ?? [];
  if (messageId === undefined) return t('I have just told you that.');
  const link = guildId === null ? messageLink(channelId, messageId) : messageLink(channelId, messageId, guildId);
  return t('I have just told you that: {link}', { link });
}

const wantsToSpeak = ({ queue }: PlanExecution): boolean => queue.some(({ action }) => action.kind === 'speech');

const namesOf = (planned: readonly PlannedAction[]): string => planned.map(({ action }) => action.name).join(', ');
