import type { CompletedAction } from '@cinnabar/sdk';
import type { TurnRun } from '../actions/action.js';
import type { Step } from '../planning/plan.js';
import type { Planner } from '../planning/planner.js';
import type { Repertoire } from '../planning/prompt.js';
import { nextBatch, type PlannedAction, toSequence } from '../planning/sequence.js';
import type { Limits } from './bounds.js';
import { createBuffered } from './buffered.js';
import type { Teller } from './events.js';
import { type Carried, carryOut, type Stage } from './execute.js';

export interface ActParts extends Pick<Stage, 'ask' | 'analyse' | 'log' | 'system' | 'situation'> {
  readonly run: Omit<TurnRun, 'context' | 'completed'>;
  readonly planner: Planner;
  readonly repertoire: Repertoire;
  readonly limits: Limits;
  readonly teller: Teller;
  /** Grows as actions are completed. */
  readonly completed: CompletedAction[];
  said(): readonly string[];
}

/** How a run ended; `refusal` is for whoever was to be answered and got no word. */
export interface ActEnd {
  readonly reasoning: string;
  readonly refusal: string | undefined;
}

const UNUSABLE = 'I could not make up my mind about that. Please say it again, or put it differently.';
const NO_ROOM = 'I did not get to an answer: my plan was longer than I may go on for. Please ask for less at once.';
const WORDLESS = 'I could not find the words for an answer. Please try again.';

/** Plans, then carries out action by action, extending the plan where it wants that. Always ends: every loop counts against a bound. */
export async function act(parts: ActParts): Promise<ActEnd> {
  const { planner, teller } = parts;
  const planned = await planner.plan();
  if (planned.kind !== 'answer') {
    const detail = planned.kind === 'bound' ? planned.message : planned.detail;
    teller.system(planned.kind === 'bound' ? 'bound_reached' : 'plan_refused', detail);
    return { reasoning: '', refusal: planned.kind === 'bound' ? NO_ROOM : UNUSABLE };
  }
  const { reasoning, actions, can_extend: canExtend } = planned.value;
  const course = {
    queue: sequence(actions, parts),
    extensible: canExtend,
    checks: 0,
    planHolds: true,
    wordless: false,
  };
  while (course.queue.length > 0) {
    const stop = await nextStep(course, parts);
    if (stop !== undefined)
      return { reasoning, refusal: stop === 'bound' && wantsToSpeak(course) ? NO_ROOM : undefined };
  }
  return { reasoning, refusal: course.wordless ? WORDLESS : undefined };
}

interface Course {
  queue: readonly PlannedAction[];
  extensible: boolean;
  checks: number;
  planHolds: boolean;
  /** It wanted to speak and could not. */
  wordless: boolean;
}

/** Carries out the next batch. Says why the run has to stop, if it has. */
async function nextStep(course: Course, parts: ActParts): Promise<'bound' | 'end' | undefined> {
  const { limits, teller, completed } = parts;
  const room = limits.maxActions - completed.length;
  const batch = nextBatch(course.queue).slice(0, Math.max(0, room));
  if (batch.length === 0) {
    teller.system('bound_reached', `${limits.maxActions} actions are the limit for one run`);
    return 'bound';
  }
  for (const [index, carried] of (await carryOutAll(batch, course, parts)).entries()) {
    const stop = take(carried, batch[index], course, parts);
    if (stop !== undefined) return stop;
  }
  course.queue = course.queue.slice(batch.length);
  await extend(course, parts);
  return undefined;
}

async function carryOutAll(
  batch: readonly PlannedAction[],
  { planHolds }: Course,
  parts: ActParts,
): Promise<readonly Carried[]> {
  const { run, completed, teller, ask, analyse, log, system, situation } = parts;
  const said = parts.said();
  const before = [...completed];
  const all = batch.map((planned, index) => {
    const buffered = batch.length === 1 ? { ...teller, flush: () => undefined } : createBuffered(teller);
    const toolId = `action_${planned.action.name}_${before.length + index + 1}`;
    const carried = carryOut(planned, {
      run: { ...run, completed: before },
      ask,
      analyse,
      teller: buffered,
      said,
      planHolds,
      log,
      toolId,
      system,
      situation,
    });
    return { carried, flush: buffered.flush };
  });
  const results = await Promise.allSettled(all.map(({ carried }) => carried));
  for (const { flush } of all) flush();
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

function take(
  carried: Carried,
  planned: PlannedAction | undefined,
  course: Course,
  { completed, teller }: ActParts,
): 'bound' | 'end' | undefined {
  switch (carried.kind) {
    case 'end':
      return 'end';
    case 'bound':
      teller.system('bound_reached', carried.message);
      return 'bound';
    case 'repetition':
      teller.system('repetition_stopped', `Stopped due to repetition: ${carried.pattern.sentence}`);
      return 'end';
    default:
      completed.push(carried.completed);
      if (planned?.action.revealing === true || carried.kind === 'failed') course.planHolds = false;
      if (planned?.action.telling === 'speech') course.wordless = carried.kind === 'failed';
      return undefined;
  }
}

/** Asks whether the plan should go on, while it may. */
async function extend(course: Course, parts: ActParts): Promise<void> {
  const { planner, limits, teller } = parts;
  if (!course.extensible || course.checks >= limits.maxExtensions) return;
  course.checks += 1;
  const answer = await planner.extend();
  // Without an answer, what was planned before can still go on as far as its results are there.
  course.extensible = answer.kind === 'answer' && answer.value.can_extend;
  if (answer.kind === 'malformed') teller.system('plan_refused', `an extension: ${answer.detail}`);
  if (answer.kind !== 'answer') return;
  const added = sequence(answer.value.actions, parts);
  if (added.length === 0) return;
  course.queue = [...course.queue.filter(({ action }) => action.telling !== 'end'), ...added];
  teller.system('extended', `added: ${added.map(({ action }) => action.name).join(', ')}`);
}

function sequence(
  steps: readonly Step[],
  { repertoire, limits, completed, teller }: ActParts,
): readonly PlannedAction[] {
  // One more than there is room for: whoever plans too much is told that the bound was reached.
  const { planned, dropped, surplus } = toSequence(
    steps,
    repertoire,
    limits.maxActions + 1,
    completed.map(({ action }) => action),
  );
  for (const name of dropped) teller.system('action_dropped', `there is no action called ${JSON.stringify(name)}`);
  if (surplus > 0) teller.system('action_dropped', `${surplus} more than one run may carry out`);
  return planned;
}

function wantsToSpeak({ queue }: Course): boolean {
  return queue.some(({ action }) => action.telling === 'speech');
}
