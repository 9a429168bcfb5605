import { countStep, warningOfCircles } from '../breakers/breakers.js';
import { compact } from '../context/compact.js';
import { GO_ON } from '../context/prompt.js';
import type { Call, Task } from '../model/task.js';
import type { Rules } from '../settings.js';
import { logStep } from './finish.js';

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
