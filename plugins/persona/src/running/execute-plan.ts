import type { CompletedAction } from '@cinnabar/sdk';
import { messageLink } from 'discord.js';
import type { TurnRun } from '../actions/action.js';
import { nextBatch, type Plan, type PlannedAction, type Planner, toSequence } from '../planning/plan.js';
import type { Repertoire } from '../planning/planning-prompt.js';
import type { RepetitionPattern } from '../repetition/analyse.js';
import { createBuffered, type Teller } from './event-emitter.js';
import { assertGoing, type Carried, carryOut, type Stage } from './execute-action.js';
import type { Limits } from './model-calls.js';

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

const UNUSABLE = 'I could not make up my mind about that. Please say it again, or put it differently.';
const NO_ROOM = 'I did not get to an answer: my plan was longer than I may go on for. Please ask for less at once.';
const CIRCLES = 'I was going round in circles, so I stopped. Please put it differently.';
const WORDLESS = 'I could not find the words for an answer. Please try again.';

/**
 * Plans, then carries out action by action, extending the plan where it wants that. Always ends: every round counts against a bound.
 * Resolves with a sentence for whoever was to be answered, where the persona wanted to speak or plan and could not.
 */
export async function act(parts: ActParts): Promise<string | undefined> {
  const { planner, teller } = parts;
  const answer = await planner.plan();
  if (answer.kind === 'bound') {
    teller.system('bound_reached', answer.message);
    return NO_ROOM;
  }
  if (answer.kind === 'malformed') {
    teller.system('plan_refused', answer.detail);
    return UNUSABLE;
  }
  const course = beginCourse(answer.value, parts);
  while (course.queue.length > 0) {
    const stop = await nextStep(course, parts);
    if (stop === 'repetition') return parts.hasSpoken() ? undefined : saidAlready(course, parts);
    if (stop !== undefined) return stop === 'bound' && wantsToSpeak(course) ? NO_ROOM : undefined;
  }
  return course.wordless ? WORDLESS : undefined;
}

/** Carries out the next batch. Says why the run has to stop, if it has. */
async function nextStep(course: Course, parts: ActParts): Promise<Stop | undefined> {
  const { limits, teller, completed, run } = parts;
  assertGoing(run.signal);
  const room = Math.max(0, limits.maxActions - completed.length);
  const batch = nextBatch(course.queue).slice(0, room);
  if (batch.length === 0) {
    teller.system('bound_reached', `${limits.maxActions} actions are the limit for one run`);
    return 'bound';
  }
  const ends = await carryOutAll(batch, parts);
  const stops = ends.map((carried, index) => takeIn(carried, batch[index], course, parts));
  const stop = stops.find((one) => one !== undefined);
  if (stop === 'repetition' && course.repeated?.kind === 'loop' && !parts.hasSpoken()) {
    // Thinking in circles is no reason to leave a question without an answer.
    const speech = course.queue.slice(batch.length).filter(({ action }) => action.telling === 'speech');
    if (speech.length === 0) return stop;
    Object.assign(course, { queue: speech, extensible: false });
    return undefined;
  }
  if (stop !== undefined) return stop;
  course.queue = course.queue.slice(batch.length);
  if (course.stale) course.queue = course.queue.map((planned) => ({ ...planned, result: undefined }));
  course.stale = false;
  await extendCourse(course, parts);
  return undefined;
}

/** For the person who was to be answered, where all that was left to say had been said: silence would be no answer. */
function saidAlready({ repeated, queue, extensible }: Course, { run }: ActParts): string | undefined {
  if (repeated === undefined) return undefined;
  if (repeated.kind === 'loop') return extensible || wantsToSpeak({ queue }) ? CIRCLES : undefined;
  const { guildId, channelId } = run.place;
  const line = run.lines.findLast(({ userId, text }) => userId === null && text.startsWith(repeated.earlier));
  const [messageId] = line?.messageIds ?? [];
  if (messageId === undefined) return 'I have just told you that.';
  return `I have just told you that: ${guildId === null ? messageLink(channelId, messageId) : messageLink(channelId, messageId, guildId)}`;
}

function wantsToSpeak({ queue }: Pick<Course, 'queue'>): boolean {
  return queue.some(({ action }) => action.telling === 'speech');
}

/** Carries out one action, or several at the same time; tells of them one after another. @throws when the run was cancelled */
export async function carryOutAll(batch: readonly PlannedAction[], parts: ActParts): Promise<readonly Carried[]> {
  const { run, completed, teller } = parts;
  const stage = {
    ...parts,
    run: { ...run, completed: [...completed] },
    said: parts.said(),
    hasSpoken: parts.hasSpoken(),
  };
  const all = batch.map((planned, index) => {
    const buffered = batch.length === 1 ? { ...teller, flush: () => undefined } : createBuffered(teller);
    const toolId = `action_${planned.action.name}_${completed.length + index + 1}`;
    return { carried: carryOut(planned, { ...stage, teller: buffered, toolId }), flush: buffered.flush };
  });
  const results = await Promise.allSettled(all.map(({ carried }) => carried));
  for (const { flush } of all) flush();
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}
