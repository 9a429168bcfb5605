import { createHash } from 'node:crypto';
import type { Rules } from '../settings.js';
import type { Call, Step, Task } from '../task.js';

type Circles = Task['circles'];
type Bounds = Pick<Rules, 'maxIdenticalCalls' | 'maxIdleSteps' | 'maxErrors'>;

/** Calls with their results, and texts, that are remembered: a circle longer than this is none. */
const REMEMBERED = 64;
/** Neither done nor gone wrong: they were not decided on, or wait for an answer. */
const UNDECIDED: ReadonlySet<Call['outcome']> = new Set(['expired', 'held']);

/**
 * Counts a step that is over. It gets somewhere when it says something new, or when a call returns something that the same call has not returned
 * before: a story in chapters and a look at what changes are work. Only what repeats itself is counted.
 */
export function countStep(circles: Circles, { text, calls }: Pick<Step, 'text' | 'calls'>): Circles {
  let { lastCall, identical, errors } = circles;
  const seen = [...(circles.seen ?? [])];
  const isNew = (mark: string) => {
    if (seen.includes(mark)) return false;
    seen.push(mark);
    return true;
  };
  let advanced = text !== '' && isNew(markOfText(text));
  /** Nothing but the very call before: that is counted by itself. */
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
  const idle = advanced ? 0 : circles.idle + (isPoll ? 0 : 1);
  return { lastCall, identical, errors, idle, failures: 0, seen: seen.slice(-REMEMBERED) };
}

/** Counts a request to the model that failed. */
export const countFailure = (circles: Circles): Circles => ({ ...circles, failures: circles.failures + 1 });

/** Why the run has to end; `undefined` while it may go on. */
export function brokenBy({ identical, idle, errors, failures, lastCall }: Circles, rules: Bounds): string | undefined {
  const tool = lastCall.slice(0, lastCall.indexOf(' '));
  if (identical >= rules.maxIdenticalCalls) {
    return `I called \`${tool}\` ${identical} times in a row, and it returned the same each time, so I was running in circles.`;
  }
  if (errors >= rules.maxErrors) return `${errors} calls in a row went wrong.`;
  if (failures >= rules.maxErrors) return `The language model failed ${failures} times in a row.`;
  if (idle >= rules.maxIdleSteps) return `I repeated myself for ${idle} steps and got nowhere.`;
  return undefined;
}

const WAIT = 'When you wait for something, call wait. Otherwise do something else, or ask_user.';

/** Said to the model half way to the end, so that it can do better. */
export function warningOfCircles({ identical, idle }: Circles, rules: Bounds): string | undefined {
  if (identical === Math.ceil(rules.maxIdenticalCalls / 2)) {
    return `You have made the same call ${identical} times in a row, and it returned the same each time. ${WAIT}`;
  }
  if (idle === Math.ceil(rules.maxIdleSteps / 2)) return `You have repeated yourself for ${idle} steps. ${WAIT}`;
  return undefined;
}

/** The name of the tool comes first. */
function markOfCall({ name, input, outcome, result }: Call): string {
  return `${name} ${hashOf(JSON.stringify([sorted(input), outcome, result ?? null]))}`;
}

/** Texts that differ in numbers, case and punctuation alone are the same. */
function markOfText(text: string): string {
  return `send_update ${hashOf(text.toLowerCase().replaceAll(/[^\p{L}]+/gu, ' '))}`;
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 16);

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
