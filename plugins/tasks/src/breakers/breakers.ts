import { createHash } from 'node:crypto';
import type { Step, Task } from '../model/task.js';
import type { Rules } from '../settings.js';

type Circles = Task['circles'];

/** Said by the task's own tools: it tells people something, but gets nobody further. */
const SPEECH = new Set(['send_update']);

/** Counts a step that is over. A step gets somewhere when a tool has given it something that the step before had not asked for, or a person has answered. */
export function countStep(circles: Circles, { calls }: Step): Circles {
  let { lastCall, identical, errors } = circles;
  let advanced = false;
  for (const { name, input, outcome } of calls) {
    const key = keyOf(name, input);
    const again = key === lastCall;
    identical = again ? identical + 1 : 1;
    lastCall = key;
    const failed = outcome !== 'done' && outcome !== 'told';
    // Nobody decided on it: that is no error.
    if (outcome !== 'expired') errors = failed ? errors + 1 : 0;
    if (!failed && !again && !SPEECH.has(name)) advanced = true;
  }
  if (calls.length === 0) {
    lastCall = '';
    identical = 0;
  }
  return { lastCall, identical, errors, idle: advanced ? 0 : circles.idle + 1, failures: 0 };
}

/** Counts a request to the model that failed. */
export const countFailure = (circles: Circles): Circles => ({ ...circles, failures: circles.failures + 1 });

/** Why the run has to end; `undefined` while it may go on. */
export function brokenBy(
  { identical, idle, errors, failures, lastCall }: Circles,
  rules: Pick<Rules, 'maxIdenticalCalls' | 'maxIdleSteps' | 'maxErrors'>,
): string | undefined {
  const tool = lastCall.slice(0, lastCall.indexOf(' '));
  if (identical >= rules.maxIdenticalCalls) {
    return `I called \`${tool}\` with the same arguments ${identical} times in a row, so I was running in circles.`;
  }
  if (errors >= rules.maxErrors) return `${errors} calls in a row went wrong.`;
  if (failures >= rules.maxErrors) return `The language model failed ${failures} times in a row.`;
  if (idle >= rules.maxIdleSteps) return `I got nowhere for ${idle} steps.`;
  return undefined;
}

function keyOf(name: string, input: Readonly<Record<string, unknown>>): string {
  return `${name} ${createHash('sha256')
    .update(JSON.stringify(sorted(input)))
    .digest('base64url')
    .slice(0, 16)}`;
}

/** The same arguments in another order are the same call. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
