import type { CompletedAction } from '@cinnabar/sdk';
import type { TurnRun } from '../actions/action.js';
import type { Plan } from '../planning/plan.js';
import type { Planner } from '../planning/planner.js';
import type { Repertoire } from '../planning/prompt.js';
import { type PlannedAction, toSequence } from '../planning/sequence.js';
import type { RepetitionPattern } from '../repetition/types.js';
import type { Limits } from './bounds.js';
import type { Teller } from './events.js';
import type { Carried, Stage } from './execute.js';

export interface ActParts extends Pick<Stage, 'ask' | 'analyse' | 'log' | 'system' | 'situation'> {
  readonly run: Omit<TurnRun, 'context' | 'completed'>;
  readonly planner: Planner;
  readonly repertoire: Repertoire;
  readonly limits: Limits;
  readonly teller: Teller;
  /** Grows as actions are completed. */
  readonly completed: CompletedAction[];
  /** What the persona must not say again: its words of this run, and those that it lately said to the person it answers; oldest first. */
  said(): readonly string[];
  /** Whether it has said something in this run. */
  hasSpoken(): boolean;
}

/** Where a run stands. */
export interface Course {
  queue: readonly PlannedAction[];
  /** Whether the plan may be extended, and how often that was asked. */
  extensible: boolean;
  checks: number;
  /** Something came of an action that could not be known: what is written for those to come is void. */
  stale: boolean;
  /** It wanted to speak and could not. */
  wordless: boolean;
  /** What it was stopped from repeating. */
  repeated: RepetitionPattern | undefined;
}

export function beginCourse(plan: Plan, parts: ActParts): Course {
  const queue = sequence(plan, parts);
  parts.teller.system('planned', namesOf(queue) || 'nothing', plan.reasoning.slice(0, MOST_REASONING));
  return { queue, extensible: plan.can_extend, checks: 0, stale: false, wordless: false, repeated: undefined };
}

/** Asks whether the plan should go on, while it may. */
export async function extendCourse(course: Course, parts: ActParts): Promise<void> {
  const { planner, limits, teller } = parts;
  if (!course.extensible || course.checks >= limits.maxExtensions) return;
  course.checks += 1;
  const answer = await planner.extend();
  // Without an answer, what was planned before can still go on as far as its results are there.
  course.extensible = answer.kind === 'answer' && answer.value.can_extend;
  if (answer.kind === 'malformed') teller.system('plan_refused', `an extension: ${answer.detail}`);
  if (answer.kind !== 'answer') return;
  const added = sequence(answer.value, parts);
  if (added.length === 0) return;
  course.queue = [...course.queue.filter(({ action }) => action.telling !== 'end'), ...added];
  teller.system('extended', `added: ${namesOf(added)}`, answer.value.reasoning.slice(0, MOST_REASONING));
}

/** Why a run has to stop. */
export type Stop = 'bound' | 'end' | 'repetition';

/** Notes how an action ended. Says why the run has to stop, if it has. */
export function takeIn(
  carried: Carried,
  planned: PlannedAction | undefined,
  course: Course,
  { completed, teller }: ActParts,
): Stop | undefined {
  switch (carried.kind) {
    case 'end':
      return 'end';
    case 'bound':
      teller.system('bound_reached', carried.message);
      return 'bound';
    case 'repetition':
      teller.system('repetition_stopped', `Stopped due to repetition: ${carried.pattern.sentence}`);
      course.repeated = carried.pattern;
      return 'repetition';
    default:
      if (carried.kind === 'done' && carried.insteadOf !== undefined) {
        teller.system('reworded', `Put another way, because it ${carried.insteadOf.sentence}`);
      }
      completed.push(carried.completed);
      course.stale ||= carried.kind === 'failed' || planned?.action.revealing === true || isNewThought(planned);
      if (planned?.action.telling === 'speech') course.wordless = carried.kind === 'failed';
      return undefined;
  }
}

/** The plan left the thought open: what it has written for afterwards was written without it. */
function isNewThought(planned: PlannedAction | undefined): boolean {
  return planned?.action.telling === 'thought' && (planned.result === undefined || planned.result === null);
}

const MOST_REASONING = 1_000;

function sequence({ actions }: Plan, { repertoire, limits, completed, teller }: ActParts): readonly PlannedAction[] {
  const done = completed.map(({ action }) => action);
  // One more than there is room for: whoever plans too much is told that the bound was reached.
  const { planned, dropped, surplus } = toSequence(actions, repertoire, limits.maxActions + 1, done);
  for (const name of dropped) teller.system('action_dropped', `there is no action called ${JSON.stringify(name)}`);
  if (surplus > 0) teller.system('action_dropped', `${surplus} more than one run may carry out`);
  return planned;
}

function namesOf(planned: readonly PlannedAction[]): string {
  return planned.map(({ action }) => action.name).join(', ');
}
