import type { LlmRequest, Logger } from '@cinnabar/sdk';
import type { RequestBodies } from './bodies.js';
import { type Candidate, type Learned, planCall, type Refusal, type Setup, whyChat } from './candidate.js';
import type { ProviderDefinition } from './providers/definition.js';
import type { Attempt, Failure, Mode, ProviderCall } from './providers/provider.js';
import { type Bounds, CANCELLED, type Interruption, within } from './retry.js';

/** What an attempt needs besides the request and the model. */
export interface AttemptParts {
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
      // What comes after the end of the attempt is nobody's any more.
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
