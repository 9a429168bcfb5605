import { CinnabarError, type CompletedAction, type Logger, sentenceOf } from '@cinnabar/sdk';
import type { PreparedAction, TurnRun } from '../actions/action.js';
import { inert } from '../conversation/render.js';
import type { PlannedAction } from '../planning/plan.js';
import type { AnalyseRepetition, RepetitionPattern } from '../repetition/analyse.js';
import type { Teller } from './event-emitter.js';
import type { Answer, Ask } from './model-calls.js';

/** How an action ended. */
export type Carried =
  | {
      readonly kind: 'done';
      readonly completed: CompletedAction;
      /** The repetition that its first words would have been. */
      readonly insteadOf?: RepetitionPattern | undefined;
    }
  /** It is over for this action; the run goes on. */
  | { readonly kind: 'failed'; readonly completed: CompletedAction }
  | { readonly kind: 'end' }
  | { readonly kind: 'repetition'; readonly pattern: RepetitionPattern }
  | { readonly kind: 'bound'; readonly message: string };

export interface Stage {
  readonly run: Omit<TurnRun, 'context'>;
  readonly ask: Ask;
  readonly analyse: AnalyseRepetition;
  readonly teller: Pick<Teller, 'started' | 'finished' | 'text' | 'system'>;
  /** What the persona must not say again. */
  readonly said: readonly string[];
  /** Whether it has said something in this run. */
  readonly hasSpoken: boolean;
  readonly log: Logger;
  readonly toolId: string;
  /** The persona's instructions, and everything particular to this moment with a question at its end. */
  readonly system: string;
  situation(question: string): Promise<string>;
}

/** With fewer actions nothing can have gone round yet. */
const LEAST_FOR_LOOPS = 2;

/** Carries out one action: looks for repetition, gets its result, executes it, tells of it. @throws when the run was cancelled */
export async function carryOut(planned: PlannedAction, stage: Stage): Promise<Carried> {
  const { action } = planned;
  if (action.telling === 'end') return { kind: 'end' };
  if (stage.run.completed.length >= LEAST_FOR_LOOPS) {
    const loop = repetition(planned, undefined, stage);
    if (loop !== undefined) return { kind: 'repetition', pattern: loop };
  }
  const { teller, toolId } = stage;
  if (action.telling === 'tool') teller.started(toolId, action.name, planned.context);
  try {
    const carried = await perform(planned, stage);
    tellOf(carried, planned, stage);
    return carried;
  } catch (error) {
    if (action.telling === 'tool') teller.finished(toolId, action.name, 'not done: the run broke off', true);
    throw error;
  }
}

async function perform(planned: PlannedAction, stage: Stage): Promise<Carried> {
  const answer = await resultOf(planned, stage);
  if (answer.kind === 'bound') return answer;
  if (answer.kind === 'malformed') return failed(planned, 'I could not put it into words');
  const pattern = repetitionIn(answer.value, planned, stage);
  let prepared = answer.value;
  if (pattern !== undefined) {
    const other = await reworded(planned, prepared, pattern, stage);
    if (other === undefined) return { kind: 'repetition', pattern };
    prepared = other;
  }
  const { name } = planned.action;
  assertGoing(stage.run.signal);
  try {
    const summary = await prepared.execute({ ...stage.run, context: planned.context });
    return { kind: 'done', completed: { action: name, context: planned.context, summary }, insteadOf: pattern };
  } catch (error) {
    if (stage.run.signal.aborted) throw error;
    const sentence = sentenceOf(error);
    if (sentence === undefined) stage.log.error('an action of a persona failed', { action: name, error });
    return failed(planned, sentence ?? 'something went wrong inside');
  }
}

function repetitionIn({ words }: PreparedAction, planned: PlannedAction, stage: Stage): RepetitionPattern | undefined {
  return words === undefined ? undefined : repetition(planned, words, stage);
}

/**
 * The same in other words, or a word on having said it already: a question gets an answer each time. `undefined` where that repeats something,
 * too, and where the run has said something already.
 */
async function reworded(
  planned: PlannedAction,
  { words = '' }: PreparedAction,
  { earlier }: RepetitionPattern,
  stage: Stage,
): Promise<PreparedAction | undefined> {
  if (stage.hasSpoken) return undefined;
  const instruction = `I was about to say ${inert(words)}, but that repeats what I have just said: ${inert(earlier)}. I put it another way, or remind them briefly that I have said it.`;
  const answer = await ask(planned, stage, instruction);
  if (answer.kind !== 'answer' || repetitionIn(answer.value, planned, stage) !== undefined) return undefined;
  return answer.value;
}

/** What the plan has written already, where that can still be right; otherwise what the model says now. */
async function resultOf({ action, context, result }: PlannedAction, stage: Stage): Promise<Answer<PreparedAction>> {
  const isEmpty = Object.keys(action.result.shape).length === 0;
  const isOpen = result === undefined || result === null;
  const written = isEmpty ? action.prepare({}) : isOpen ? undefined : action.prepare(result);
  if (written !== undefined) return { kind: 'answer', value: written };
  return ask({ action, context, result }, stage, '');
}

async function ask(
  { action, context }: PlannedAction,
  stage: Stage,
  instruction: string,
): Promise<Answer<PreparedAction>> {
  const answer = await stage.ask({
    name: action.name.toLowerCase(),
    schema: action.result,
    system: stage.system,
    situation: await stage.situation(
      `I carry out ${action.name} now (${action.description}). Focus: ${inert(context)}\n${instruction === '' ? '' : `${instruction}\n`}Its result:`,
    ),
  });
  if (answer.kind !== 'answer') return answer;
  const prepared = action.prepare(answer.value);
  return prepared === undefined
    ? { kind: 'malformed', detail: 'it has another form' }
    : { kind: 'answer', value: prepared };
}

function repetition(
  { action, context }: PlannedAction,
  text: string | undefined,
  { run, analyse, said }: Stage,
): RepetitionPattern | undefined {
  const { shouldStop, pattern } = analyse({
    completed: run.completed.map(({ action: name, context: focus, summary }) => ({
      action: name,
      context: focus,
      result: summary,
    })),
    proposed: { action: action.name, context, text },
    trigger: run.trigger.type === 'user_input' ? run.trigger.content : '',
    said,
  });
  return shouldStop ? (pattern ?? undefined) : undefined;
}

function failed({ action, context }: PlannedAction, why: string): Carried {
  return { kind: 'failed', completed: { action: action.name, context, summary: `failed: ${why}` } };
}

function tellOf(carried: Carried, { action }: PlannedAction, { teller, toolId }: Stage): void {
  if (carried.kind === 'end') return;
  const isDone = carried.kind === 'done';
  if (action.telling === 'tool')
    teller.finished(toolId, action.name, isDone && action.quotes ? 'done' : outcomeOf(carried), !isDone);
  else if (isDone) teller.text(carried.completed.summary, action.telling === 'thought');
  if (carried.kind === 'failed') teller.system('action_failed', `${action.name}: ${carried.completed.summary}`);
}

function outcomeOf(carried: Exclude<Carried, { kind: 'end' }>): string {
  switch (carried.kind) {
    case 'repetition':
      return `not done: ${carried.pattern.sentence}`;
    case 'bound':
      return `not done: ${carried.message}`;
    default:
      return carried.completed.summary;
  }
}

/** Whether an error says that a request was cancelled. */
export function isCancelled(error: unknown): boolean {
  return error instanceof CinnabarError && error.code === 'CINNABAR_LLM_CANCELLED';
}

/** For what would go on by itself when nothing is asked of a model any more. @throws CINNABAR_LLM_CANCELLED */
export function assertGoing(signal: AbortSignal): void {
  if (signal.aborted) throw new CinnabarError('CINNABAR_LLM_CANCELLED');
}
