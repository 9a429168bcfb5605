import {
  type Clock,
  createDeadline,
  type LlmRequest,
  type Logger,
  linkSignals,
  sleep,
  unlessAborted,
} from '@cinnabar/sdk';
import type { RequestBodies } from './bodies.js';
import { type Candidate, type Learned, planCall, type Refusal, type Setup, whyChat } from './candidate.js';
import type { ProviderDefinition } from './providers/definition.js';
import type { Attempt, Failure, Mode, ProviderCall } from './providers/provider.js';

/** What an attempt needs besides the request and the model. */
interface AttemptParts {
  readonly setup: Setup;
  readonly learned: Learned;
  readonly bounds: Bounds;
  readonly log: Logger;
  readonly bodies: RequestBodies | undefined;
  /** Before anything is sent. */
  onStart(mode: Mode): void;
  readonly onText: ((piece: string) => void) | undefined;
}

/** One attempt within its time limit. What the model refuses each time is left out and sent again at once. */
export async function attemptOnce(candidate: Candidate, request: LlmRequest, parts: AttemptParts): Promise<Attempt> {
  const { setup, learned, bounds, log } = parts;
  const end = await within(bounds, async (signal) => {
    for (;;) {
      const reason = whyChat(request, candidate, learned);
      if (reason !== undefined) learned.noteChat(log, candidate.name, reason);
      const call = planCall(setup, candidate, request, learned, signal);
      const range = outOfRange(call, candidate.vendor.definition);
      if (range !== undefined) return failed(range);
      parts.onStart(call.mode);
      // What comes after the end of the attempt is dropped.
      const onText = parts.onText;
      const listen = onText && ((piece: string) => (signal.aborted ? undefined : onText(piece)));
      const answered = await parts.bodies?.sending(candidate.provider, call, setup.settings.keepBodies);
      const attempt = await candidate.provider.send(listen === undefined ? call : { ...call, onText: listen });
      answered?.(attempt);
      const refused = attempt.ok ? undefined : attempt.failure.refuses;
      if (refused === undefined || !wasAsked(refused, call) || !learned.learn(candidate.name, refused)) return attempt;
      log.warn('the model refuses a parameter, which is left out from now on', { parameter: refused });
    }
  });
  return end.done ? end.value : interrupted(end.why, bounds);
}

/** An attempt that was ended before its end. */
export function interrupted(why: Interruption, { timeoutMs }: Bounds): Attempt<never> {
  return { ok: false, failure: why === 'cancelled' ? CANCELLED : timedOut(timeoutMs) };
}

/** With less time than this, a model that does not answer is not thought to be down. */
const CONCLUSIVE_MS = 10_000;

/** Bounds an attempt by its own time limit, and by the deadline of the whole request. */
export function boundsUntil(deadlineAt: number, { clock, timeoutMs, signals }: Bounds): Bounds {
  return { clock, timeoutMs: Math.max(0, Math.min(timeoutMs, deadlineAt - clock.now())), signals };
}

/** A deadline that left hardly any time says nothing about the model. */
export function judged<R>(attempt: Attempt<R>, { timeoutMs }: Bounds, given: Bounds): Attempt<R> {
  if (attempt.ok || attempt.failure.code !== 'CINNABAR_LLM_TIMEOUT') return attempt;
  if (given.timeoutMs >= Math.min(timeoutMs, CONCLUSIVE_MS)) return attempt;
  return { ok: false, failure: { ...attempt.failure, inconclusive: true } };
}

function wasAsked(refused: Refusal, { mode, request, temperature, topP }: ProviderCall): boolean {
  if (refused === 'forcedTool') return request.output !== undefined;
  if (refused === 'temperature') return temperature !== undefined;
  if (refused === 'topP') return topP !== undefined;
  return refused === 'sampling' ? temperature !== undefined || topP !== undefined : mode === 'prefill';
}

const failed = (failure: Failure): Attempt => ({ ok: false, failure });

/** A temperature that the provider does not have: said as such, never quietly another. */
function outOfRange({ temperature }: ProviderCall, { name, maxTemperature }: ProviderDefinition): Failure | undefined {
  if (temperature === undefined || (temperature >= 0 && temperature <= maxTemperature)) return undefined;
  const detail = `the temperature ${temperature} is out of range: ${name} takes 0 to ${maxTemperature}`;
  return { code: 'CINNABAR_LLM_REFUSED', params: { detail }, retry: false };
}

function timedOut(timeoutMs: number): Failure {
  return { code: 'CINNABAR_LLM_TIMEOUT', params: { seconds: Math.round(timeoutMs / 100) / 10 }, retry: true };
}

/** A provider that asks for more patience than this is not waited for. */
const LONGEST_WAIT_MS = 60_000;

interface RetryRules {
  /** How often a failed attempt is repeated. */
  readonly retries: number;
  /** The same before each repetition; longer only where the provider asks for it. */
  readonly retryDelayMs: number;
  /** Nothing is begun that would have to wait until then. */
  readonly deadlineAt: number;
  readonly clock: Clock;
  readonly signals: readonly AbortSignal[];
  readonly log: Logger;
}

/** Repeats an attempt as long as its failure allows it. Each repetition is logged. */
export async function withRetries<R>(rules: RetryRules, attempt: () => Promise<Attempt<R>>): Promise<Attempt<R>> {
  const { clock, retries, signals, log } = rules;
  for (let repetition = 1; ; repetition += 1) {
    const result = await attempt();
    if (result.ok || repetition > retries || !isWorthRepeating(result.failure, rules)) return result;
    const { code, status } = result.failure;
    const delayMs = pauseAfter(result.failure, rules);
    log.warn('model call failed, trying again', { attempt: repetition, of: retries, delayMs, code, status });
    const cancelled = linkSignals(...signals);
    const passed = await sleep(clock, delayMs, cancelled.signal);
    cancelled.release();
    if (!passed) return { ok: false, failure: CANCELLED };
  }
}

function pauseAfter({ retryAfterMs = 0 }: Failure, { retryDelayMs }: RetryRules): number {
  return Math.max(retryDelayMs, retryAfterMs);
}

function isWorthRepeating(failure: Failure, rules: RetryRules): boolean {
  return (
    failure.retry &&
    (failure.retryAfterMs ?? 0) <= LONGEST_WAIT_MS &&
    rules.clock.now() + pauseAfter(failure, rules) < rules.deadlineAt
  );
}

export const CANCELLED: Failure = { code: 'CINNABAR_LLM_CANCELLED', params: {}, retry: false };

type Interruption = 'timeout' | 'cancelled';
type Bounded<T> = { readonly done: true; readonly value: T } | { readonly done: false; readonly why: Interruption };

interface Bounds {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Any of them cancels. */
  readonly signals: readonly AbortSignal[];
}

/**
 * Runs a task until its end, its time limit or a cancellation, whichever comes first, and aborts the task's own signal in the latter
 * two. Does not wait for a task that takes its time to notice.
 */
export async function within<T>(
  { clock, timeoutMs, signals }: Bounds,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<Bounded<T>> {
  const deadline = createDeadline(clock, timeoutMs, signals);
  try {
    if (deadline.signal.aborted) return { done: false, why: 'cancelled' };
    const end = await unlessAborted(task(deadline.signal), deadline.signal);
    if (end.inTime) return { done: true, value: end.value };
    return { done: false, why: deadline.isUp ? 'timeout' : 'cancelled' };
  } finally {
    deadline.end();
  }
}
