import type { TaskStatus } from '@cinnabar/sdk';
import { compact, GO_ON } from '../context/prompt.js';
import type { Rules } from '../settings.js';
import type { Call, Ending, Step, Task } from '../task.js';
import { countStep, warningOfCircles } from './loop-detector.js';
import type { TaskContext } from './run-control.js';

type Change = (draft: Task) => void;

/** Notes how a call of the step under way has ended; with the last of them the step is over, in the same write. */
export function endCall(
  callId: string,
  outcome: NonNullable<Call['outcome']>,
  result: string,
  rules: Rules,
  sources?: Call['sources'],
): Change {
  return (draft) => {
    changeCall(callId, (call) => settleCall(call, outcome, result, sources))(draft);
    closeIfOver(draft, rules);
  };
}

/** Takes a step of which nothing is left to do into what the model remembers. */
export function closeIfOver(draft: Task, rules: Rules): void {
  const { step } = draft;
  if (step === undefined || (step.text !== '' && step.textIds === undefined)) return;
  const { n, text, calls } = step;
  if (calls.some(({ state }) => state !== 'done')) return;
  draft.entries.push({ kind: 'step', n, text, calls });
  if (calls.length === 0) draft.entries.push({ kind: 'note', text: GO_ON });
  Object.assign(draft, compact(draft, rules.contextTokens));
  draft.circles = countStep(draft.circles, step);
  const warning = warningOfCircles(draft.circles, rules);
  if (warning !== undefined) draft.entries.push({ kind: 'note', text: warning });
  logStep(draft, step);
  delete draft.step;
}

/** Changes one call of the step that is under way. */
export function changeCall(callId: string, change: (call: Call) => void): Change {
  return ({ step }) => {
    const call = step?.calls.find(({ id }) => id === callId);
    if (call !== undefined) change(call);
  };
}

export function settleCall(
  call: Call,
  outcome: NonNullable<Call['outcome']>,
  result: string,
  sources?: Call['sources'],
): void {
  call.state = 'done';
  call.outcome = outcome;
  call.result = result;
  if (sources !== undefined) call.sources = sources;
}

export type FinalStatus = Extract<TaskStatus, 'completed' | 'cancelled' | 'error'>;

const LONGEST_LOGGED = 600;
const MOST_LOGGED = 300;

/** Writes that the task is over, and why. The channel is told afterwards. @throws Superseded when it was over already */
export async function markFinished(
  { journal }: Pick<TaskContext, 'journal'>,
  id: string,
  status: FinalStatus,
  { kind, text, byUserId }: Pick<Ending, 'kind' | 'text' | 'byUserId'>,
  change?: (draft: Task) => void,
): Promise<void> {
  await journal.move(id, status, (draft) => {
    change?.(draft);
    const by = byUserId === undefined ? {} : { byUserId };
    draft.ending = { kind, text, ...by, halted: haltedIn(draft), told: false };
    draft.pausing = false;
    draft.pausedByHost = false;
  });
}

/** Calls that had been begun when it ended. */
function haltedIn({ step }: Task): string[] {
  return (step?.calls ?? [])
    .filter(({ state, name }) => state === 'begun' && name !== 'task_complete')
    .map(({ name }) => name);
}

/** Keeps what people can look up of a step's calls. */
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
