import { CinnabarError, type CompletedAction, type Logger, sentenceOf } from '@cinnabar/sdk';
import type { PreparedAction, TurnRun } from '../actions/action.js';
import { inert } from '../conversation/render.js';
import type { PlannedAction } from '../planning/sequence.js';
import type { AnalyseRepetition, RepetitionPattern } from '../repetition/types.js';
import type { Answer, Ask } from './ask.js';
import type { Teller } from './events.js';
import { assertGoing } from './going.js';

/** How an action ended. */
export type Carried =
  | { readonly kind: 'done'; readonly completed: CompletedAction }
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
  /** What the persona has said in the channel so far. */
  readonly said: readonly string[];
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
  const prepared = answer.value;
  const pattern = prepared.words === undefined ? undefined : repetition(planned, prepared.words, stage);
  if (pattern !== undefined) return { kind: 'repetition', pattern };
  const { name } = planned.action;
  assertGoing(stage.run.signal);
  try {
    const summary = await prepared.execute({ ...stage.run, context: planned.context });
    return { kind: 'done', completed: { action: name, context: planned.context, summary } };
  } catch (error) {
    if (stage.run.signal.aborted) throw error;
    const sentence = sentenceOf(error);
    if (sentence === undefined) stage.log.error('an action of a persona failed', { action: name, error });
    return failed(planned, sentence ?? 'something went wrong inside');
  }
}

/** What the plan has written already, where that can still be right; otherwise what the model says now. */
async function resultOf({ action, context, result }: PlannedAction, stage: Stage): Promise<Answer<PreparedAction>> {
  const isEmpty = Object.keys(action.result.shape).length === 0;
  const isOpen = result === undefined || result === null;
  const written = isEmpty ? action.prepare({}) : isOpen ? undefined : action.prepare(result);
  if (written !== undefined) return { kind: 'answer', value: written };
  const answer = await stage.ask({
    name: action.name.toLowerCase(),
    schema: action.result,
    system: stage.system,
    situation: await stage.situation(
      `I carry out ${action.name} now (${action.description}). Focus: ${inert(context)}\nIts result:`,
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
