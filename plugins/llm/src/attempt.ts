import {
  type Clock,
  createDeadline,
  type LlmRequest,
  type Logger,
  linkSignals,
  type ModelTraits,
  sleep,
  unlessAborted,
} from '@cinnabar/sdk';
import type { RequestBodies } from './bodies.js';
import type { Connection, ProviderDefinition } from './providers/definition.js';
import type { Attempt, Failure, Mode, Provider, ProviderCall } from './providers/provider.js';
import type { Routes } from './routes.js';
import type { GlobalSettings } from './settings.js';
import { traitsOf } from './traits.js';
import type { Vendor } from './vendors.js';

/** The context of an attempt, other than the request and the model. */
interface AttemptContext {
  readonly setup: Setup;
  readonly learned: Learned;
  readonly bounds: Bounds;
  readonly log: Logger;
  readonly bodies: RequestBodies | undefined;
  /** Called before anything is sent. */
  onStart(mode: Mode): void;
  readonly onText: ((piece: string) => void) | undefined;
}

/** One attempt within its time limit. When the model refuses a parameter, the request is repeated at once without it. */
export async function attemptOnce(candidate: Candidate, request: LlmRequest, parts: AttemptContext): Promise<Attempt> {
  const { setup, learned, bounds, log } = parts;
  const end = await within(bounds, async (signal) => {
    for (;;) {
      const reason = whyChat(request, candidate, learned);
      if (reason !== undefined) learned.noteChat(log, candidate.name, reason);
      const call = planCall(setup, candidate, request, learned, signal);
      const range = outOfRange(call, candidate.vendor.definition);
      if (range !== undefined) return failed(range);
      parts.onStart(call.mode);
      // Output after the end of the attempt is dropped.
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

/** An attempt that was aborted. */
export function interrupted(why: Interruption, { timeoutMs }: Bounds): Attempt<never> {
  return { ok: false, failure: why === 'cancelled' ? CANCELLED : timedOut(timeoutMs) };
}

/** With less time than this, a time-out does not count as a failure of the model. */
const CONCLUSIVE_MS = 10_000;

/** Limits an attempt by its own time limit, and by the deadline of the whole request. */
export function boundsUntil(deadlineAt: number, { clock, timeoutMs, signals }: Bounds): Bounds {
  return { clock, timeoutMs: Math.max(0, Math.min(timeoutMs, deadlineAt - clock.now())), signals };
}

/** Marks a time-out as inconclusive when the deadline left the model too little time to answer. */
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

/** A temperature that the provider does not support is reported, and not changed silently. */
function outOfRange({ temperature }: ProviderCall, { name, maxTemperature }: ProviderDefinition): Failure | undefined {
  if (temperature === undefined || (temperature >= 0 && temperature <= maxTemperature)) return undefined;
  const detail = `the temperature ${temperature} is out of range: ${name} takes 0 to ${maxTemperature}`;
  return { code: 'CINNABAR_LLM_REFUSED', params: { detail }, retry: false };
}

function timedOut(timeoutMs: number): Failure {
  return { code: 'CINNABAR_LLM_TIMEOUT', params: { seconds: Math.round(timeoutMs / 100) / 10 }, retry: true };
}

/** Longest delay requested by a provider that is waited for. */
const LONGEST_WAIT_MS = 60_000;

interface RetryRules {
  /** Maximum number of repetitions of a failed attempt. */
  readonly retries: number;
  /** Delay before each repetition; longer only when the provider asks for it. */
  readonly retryDelayMs: number;
  /** A repetition whose delay would end after this time is not started. */
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
  /** The task is cancelled when any of them aborts. */
  readonly signals: readonly AbortSignal[];
}

/**
 * Runs a task until its end, its time limit or a cancellation, whichever comes first, and aborts the task's own signal in the latter two. Does not wait until
 * the task reacts.
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

/** The current configuration of requests: read for each request, so that a changed setting applies to the next one. */
export interface Setup {
  readonly settings: GlobalSettings;
  readonly routes: Routes;
  readonly providerFor: (connection: Connection) => Provider;
}

/** A model that could answer a request, with its vendor and traits. */
export interface Candidate {
  readonly vendor: Vendor;
  readonly provider: Provider;
  readonly model: string;
  /** Unique for model and vendor: the key in `Learned`. */
  readonly name: string;
  readonly traits: ModelTraits;
}

/** @throws CINNABAR_LLM_NOT_CONFIGURED when no vendor provides the model */
export function candidateFor(
  { settings, routes, providerFor }: Setup,
  wanted: string | undefined,
  learned: Learned,
): Candidate {
  const vendor = routes.vendorFor(wanted ?? routes.model);
  const { definition } = vendor;
  const provider = providerFor(vendor);
  const model = definition.onlyModel ?? wanted ?? routes.model;
  const name = `${vendor.name}:${model}`;
  const traits = traitsOf(definition, model, settings.models, learned.refuses(name, 'prefill'));
  const modes = traits.modes.filter((mode) => provider.modes.includes(mode));
  return { vendor, provider, model, name, traits: { ...traits, modes: modes.length === 0 ? ['chat'] : modes } };
}

/** Why prefill mode is not possible for a request that asks for it; `undefined` when it is possible, or not requested. */
function whyChat(request: LlmRequest, { traits, name }: Candidate, learned: Learned): string | undefined {
  if (request.mode !== 'prefill') return undefined;
  if (request.output !== undefined) return 'structured output needs chat';
  if (learned.refuses(name, 'prefill')) return 'the model has refused it';
  return traits.modes.includes('prefill') ? undefined : 'the model does not take it';
}

type Sampling = Pick<ProviderCall, 'temperature' | 'topP'>;

function wantedSampling({ temperature: usual }: Pick<GlobalSettings, 'temperature'>, request: LlmRequest): Sampling {
  return { temperature: request.temperature ?? usual, topP: request.topP };
}

function samplingOf(settings: GlobalSettings, name: string, request: LlmRequest, learned: Learned): Sampling {
  const { temperature, topP } = wantedSampling(settings, request);
  const takes = (parameter: 'temperature' | 'topP') =>
    !learned.refuses(name, 'sampling') && !learned.refuses(name, parameter);
  return { temperature: takes('temperature') ? temperature : undefined, topP: takes('topP') ? topP : undefined };
}

/** The requested parameters that were left out since the model refuses them. */
export function omittedFor(
  { settings }: Setup,
  { name }: Candidate,
  request: LlmRequest,
  learned: Learned,
): readonly string[] {
  const wanted = wantedSampling(settings, request);
  const sent = samplingOf(settings, name, request, learned);
  return (['temperature', 'topP'] as const)
    .filter((parameter) => wanted[parameter] !== undefined && sent[parameter] === undefined)
    .map((parameter) => `${parameter} ${wanted[parameter]}`);
}

/** One attempt with all open parameters decided. */
export function planCall(
  { settings }: Setup,
  candidate: Candidate,
  request: LlmRequest,
  learned: Learned,
  signal: AbortSignal,
): ProviderCall {
  const { model, name, traits } = candidate;
  const mode: Mode =
    request.mode === 'prefill' && whyChat(request, candidate, learned) === undefined ? 'prefill' : 'chat';
  return {
    request,
    mode,
    model,
    maxTokens: request.maxTokens ?? settings.maxTokens,
    ...samplingOf(settings, name, request, learned),
    stream: settings.stream,
    images: settings.images && traits.images,
    forceTool: !learned.refuses(name, 'forcedTool'),
    assistantImages: !learned.refuses(name, 'assistantImages'),
    cache: traits.cache,
    maxBytes: settings.maxAnswerBytes,
    signal,
  };
}

/** A parameter that a model always refuses. It is sent once, and left out from then on. */
export type Refusal = 'temperature' | 'topP' | 'sampling' | 'prefill' | 'assistantImages' | 'forcedTool';

/** Facts about models that earlier requests have shown. */
export interface Learned {
  refuses(model: string, what: Refusal): boolean;
  /** @returns whether that is new */
  learn(model: string, what: Refusal): boolean;
  /** Logs once for each model and reason that prefill was replaced by chat. */
  noteChat(log: Logger, model: string, reason: string): void;
}

/** @remarks keys contain the vendor: `anthropic:claude-sonnet-5` */
export function createLearned(): Learned {
  const known = new Set<string>();
  const isNews = (key: string) => {
    const size = known.size;
    known.add(key);
    return known.size > size;
  };
  return {
    refuses: (model, what) => known.has(`${what} ${model}`),
    learn: (model, what) => isNews(`${what} ${model}`),
    noteChat(log, model, reason) {
      if (isNews(`noted ${reason} ${model}`)) log.warn('prefill is not possible, chat is used', { reason });
    },
  };
}
