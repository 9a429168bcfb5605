import { createHash } from 'node:crypto';
import { FOR_REQUESTER_ALONE, type SettledOutcome, type TaskStatus, t } from '@cinnabar/sdk';
import type { Rules, TaskContext } from '../context.js';
import { compact, GO_ON } from '../prompt/prompt.js';
import type { Call, Ending, Step, Task } from '../task.js';

type Change = (draft: Task) => void;

/** How a call ended, and the text that the model reads about it. */
export interface CallResult {
  readonly outcome: NonNullable<Call['outcome']>;
  readonly result: string;
  readonly sources?: NonNullable<Call['sources']>;
}

/** Changes one call of the current step. */
export function changeCall(callId: string, change: (call: Call) => void): Change {
  return ({ step }) => {
    const call = step?.calls.find(({ id }) => id === callId);
    if (call !== undefined) change(call);
  };
}

/** Marks a call as begun; to be written before it is executed. */
export function beginCall(callId: string): Change {
  return changeCall(callId, (call) => {
    call.state = 'begun';
  });
}

/** Records a call's outcome. */
export function endCall(callId: string, result: CallResult): Change {
  return changeCall(callId, (call) => Object.assign(call, result, { state: 'done' }));
}

/** Records a call's outcome, and completes the step in the same write if it was the last call. */
export function completeCall(callId: string, result: CallResult, rules: Rules): Change {
  return (draft) => {
    endCall(callId, result)(draft);
    completeStep(draft, rules);
  };
}

/** Moves a finished step to the entries that the model reads. */
export function completeStep(draft: Task, rules: Rules): void {
  const { step } = draft;
  if (step === undefined || (step.text !== '' && step.textIds === undefined)) return;
  const { n, text, calls } = step;
  if (calls.some(({ state }) => state !== 'done')) return;
  draft.entries.push({ kind: 'step', n, text, calls });
  if (calls.length === 0) draft.entries.push({ kind: 'note', text: GO_ON });
  Object.assign(draft, compact(draft, rules.contextTokens));
  draft.circles = countStep(draft.circles, step);
  const warning = loopWarning(draft.circles, rules);
  if (warning !== undefined) draft.entries.push({ kind: 'note', text: warning });
  logStep(draft, step);
  delete draft.step;
}

const LONGEST_LOGGED = 600;
const MOST_LOGGED = 300;

/** Stores the details of a step's calls for people. */
export function logStep(draft: Task, { n, calls }: Pick<Step, 'n' | 'calls'>): void {
  const lines = calls.map((call) => ({
    n,
    tool: call.name,
    input: cut(JSON.stringify(call.input)),
    outcome: call.outcome ?? (call.state === 'begun' ? 'unknown' : 'not run'),
    result: cut(call.result ?? ''),
    ...(call.sources === undefined ? {} : { sources: call.sources }),
  }));
  draft.log = [...draft.log, ...lines].slice(-MOST_LOGGED);
}

const cut = (text: string) => (text.length <= LONGEST_LOGGED ? text : `${text.slice(0, LONGEST_LOGGED)}…`);

export type FinalStatus = Extract<TaskStatus, 'completed' | 'cancelled' | 'error'>;

/** Records that the task has ended, and why. The worker pool posts the result afterwards. @throws Superseded if it had ended before */
export async function markFinished(
  { journal }: Pick<TaskContext, 'journal'>,
  id: string,
  status: FinalStatus,
  { kind, text, byUserId }: Pick<Ending, 'kind' | 'text' | 'byUserId'>,
  change?: Change,
): Promise<void> {
  await journal.move(id, status, (draft) => {
    change?.(draft);
    const by = byUserId === undefined ? {} : { byUserId };
    draft.ending = { kind, text, ...by, halted: begunCalls(draft).map(({ name }) => name), told: false };
    draft.pausing = false;
    draft.pausedByHost = false;
  });
}

/** The begun calls, except the one that ends the task. */
export function begunCalls({ step }: Task): Call[] {
  return (step?.calls ?? []).filter(({ state, name }) => state === 'begun' && name !== 'task_complete');
}

/** Longer results are cut, because they would displace the other steps. */
const LONGEST_RESULT = 20_000;
export const UNKNOWN_OUTCOME = 'CINNABAR_TOOL_UNKNOWN_OUTCOME';

/** The text about a host tool's outcome that the model reads. */
export function resultOf(outcome: SettledOutcome): CallResult {
  switch (outcome.status) {
    case 'done': {
      const { text } = outcome;
      const cutText =
        text.length <= LONGEST_RESULT ? text : `${text.slice(0, LONGEST_RESULT)}… (${text.length} characters in all)`;
      return {
        outcome: 'done',
        result: outcome.audience === 'requester' ? FOR_REQUESTER_ALONE : cutText,
        ...(outcome.sources === undefined ? {} : { sources: [...outcome.sources] }),
      };
    }
    case 'denied':
      return { outcome: 'denied', result: `Not run. It was denied: ${outcome.reason}` };
    case 'expired':
      return {
        outcome: 'expired',
        result: `Not run, and nobody refused it: no decision was made in time. ${outcome.reason}`,
      };
    default:
      if (outcome.error.code !== UNKNOWN_OUTCOME) return { outcome: 'failed', result: outcome.error.message };
      return {
        outcome: 'unknown',
        result: `${outcome.error.message} Do not claim that it took effect, nor that it did not, and do not repeat it unless you can tell.`,
      };
  }
}

/** The text for people about a call with an unknown outcome. */
export const unknownCall = ({ name, input }: Call, n: number): string =>
  t('{call} in step {step}', { call: `${name}(${JSON.stringify(input).slice(0, 200)})`, step: n });

/** Input of the loop detector. */
type LoopState = Task['circles'];
type LoopLimits = Pick<Rules, 'maxIdenticalCalls' | 'maxIdleSteps' | 'maxErrors'>;

/** Number of hashes that are kept of calls with results, and of texts: a longer loop is not detected. */
const REMEMBERED = 64;
/** Outcomes that are neither success nor failure: calls without a decision, or held for an answer. */
const UNDECIDED: ReadonlySet<Call['outcome']> = new Set(['expired', 'held']);

/**
 * Counts a completed step. A step makes progress if its text is new, or if a call returns something that the same call has not returned before: writing
 * chapters or polling a changing value is progress. Only repetition is counted.
 */
export function countStep(state: LoopState, { text, calls }: Pick<Step, 'text' | 'calls'>): LoopState {
  let { lastCall, identical, errors } = state;
  const seen = [...(state.seen ?? [])];
  const isNew = (mark: string) => {
    if (seen.includes(mark)) return false;
    seen.push(mark);
    return true;
  };
  let advanced = text !== '' && isNew(markOfText(text));
  /** Whether the step only repeats the last call with its result: `identical` counts that, so `idle` does not. */
  let isPoll = calls.length > 0;
  for (const call of calls) {
    const { name, input, outcome } = call;
    if (UNDECIDED.has(outcome)) continue;
    const isSpeech = name === 'send_update';
    const mark = isSpeech ? markOfText(String(input.message)) : markOfCall(call);
    isPoll &&= mark === lastCall && !isSpeech;
    identical = mark === lastCall ? identical + 1 : 1;
    lastCall = mark;
    const failed = outcome !== 'done' && outcome !== 'told';
    errors = failed ? errors + 1 : 0;
    if (isNew(mark) && !failed) advanced = true;
  }
  if (calls.length === 0) {
    lastCall = '';
    identical = 0;
  }
  const idle = advanced ? 0 : state.idle + (isPoll ? 0 : 1);
  return { lastCall, identical, errors, idle, failures: 0, seen: seen.slice(-REMEMBERED) };
}

/** Why the run has to end; `undefined` while it may continue. */
export function loopReason(
  { identical, idle, errors, failures, lastCall }: LoopState,
  limits: LoopLimits,
): string | undefined {
  const tool = lastCall.slice(0, lastCall.indexOf(' '));
  if (identical >= limits.maxIdenticalCalls) {
    return t(
      'I called {tool} {count} times in a row, and it returned the same each time, so I was running in circles.',
      {
        tool: `\`${tool}\``,
        count: identical,
      },
    );
  }
  if (errors >= limits.maxErrors) return t('{count} calls in a row went wrong.', { count: errors });
  if (failures >= limits.maxErrors) return t('The language model failed {count} times in a row.', { count: failures });
  if (idle >= limits.maxIdleSteps) return t('I repeated myself for {count} steps and got nowhere.', { count: idle });
  return undefined;
}

const WAIT = 'When you wait for something, call wait. Otherwise do something else, or ask_user.';

/** A warning for the model at half of the limit, so that it can change its approach. */
function loopWarning({ identical, idle }: LoopState, limits: LoopLimits): string | undefined {
  if (identical === Math.ceil(limits.maxIdenticalCalls / 2)) {
    return `You have made the same call ${identical} times in a row, and it returned the same each time. ${WAIT}`;
  }
  if (idle === Math.ceil(limits.maxIdleSteps / 2)) return `You have repeated yourself for ${idle} steps. ${WAIT}`;
  return undefined;
}

/** The tool's name, and a hash of the call with its result. */
function markOfCall({ name, input, outcome, result }: Call): string {
  return `${name} ${hashOf(JSON.stringify([sorted(input), outcome, result ?? null]))}`;
}

/** The hash of a text without numbers, case and punctuation. */
function markOfText(text: string): string {
  return `send_update ${hashOf(text.toLowerCase().replaceAll(/[^\p{L}]+/gu, ' '))}`;
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 16);

/** A copy with sorted keys, since the order of arguments makes no difference. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
