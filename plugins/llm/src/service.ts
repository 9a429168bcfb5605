import { CinnabarError, type Clock, type Llm, type LlmCompletion, type LlmRequest, type Logger } from '@cinnabar/sdk';
import { finishCompletion } from './completion.js';
import type { Configuration } from './configuration.js';
import type { Attempt, Failure, Provider, ProviderCall } from './providers/provider.js';
import { type Bounds, within } from './resilience/deadline.js';
import { CANCELLED, withRetries } from './resilience/retries.js';
import type { GlobalSettings } from './settings.js';

/** How requests are made at the moment: read anew for each one, so that a changed setting holds from the next request on. */
export interface Setup {
  readonly settings: GlobalSettings;
  readonly configuration: Configuration;
  readonly provider: Provider;
}

export interface ServiceParts {
  /** @throws CINNABAR_LLM_NOT_CONFIGURED */
  setup(): Promise<Setup>;
  /** What answered or would answer, as last known. */
  readonly current: () => Llm['current'];
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
}

/** The `Llm` service: chooses the provider, bounds each attempt, repeats what may be repeated, and checks what came back. */
export function createLlm(parts: ServiceParts): Llm {
  // Models that refuse temperature and topP do so every time: they are asked once.
  const refusing = new Set<string>();
  return {
    get current() {
      return parts.current();
    },
    async complete(request) {
      const setup = await parts.setup();
      const signals = [parts.signal, ...(request.signal === undefined ? [] : [request.signal])];
      const { settings, configuration, provider } = setup;
      const model = provider.name === 'offline' ? configuration.model : (request.model ?? configuration.model);
      const log = parts.log.child({ provider: provider.name, model });
      const bounds = { clock: parts.clock, timeoutMs: request.timeoutMs ?? settings.timeoutMs, signals };
      const rules = {
        retries: request.retries ?? settings.retries,
        retryDelayMs: settings.retryDelayMs,
        clock: parts.clock,
        signals,
        log,
      };
      const started = parts.clock.now();
      const attempt = await withRetries(rules, () => sendWithin(bounds, setup, request, model, refusing));
      if (!attempt.ok) throw toError(attempt.failure);
      const completion: LlmCompletion = finishCompletion(request, provider.name, attempt.reply);
      const { stopReason, usage } = completion;
      log.debug('model answered', { stopReason, ...usage, ms: parts.clock.now() - started });
      return completion;
    },
  };
}

async function sendWithin(
  bounds: Bounds,
  { settings, provider }: Setup,
  request: LlmRequest,
  model: string,
  refusing: Set<string>,
): Promise<Attempt> {
  const name = `${provider.name}:${model}`;
  const sampled = { temperature: request.temperature ?? settings.temperature, topP: request.topP };
  const send = (signal: AbortSignal): Promise<Attempt> => {
    const call: Omit<ProviderCall, 'temperature' | 'topP'> = {
      request,
      mode: 'chat',
      model,
      maxTokens: request.maxTokens ?? settings.maxTokens,
      stream: settings.stream,
      images: settings.images,
      signal,
    };
    const sampling = refusing.has(name) ? { temperature: undefined, topP: undefined } : sampled;
    return provider.send({ ...call, ...sampling });
  };
  const end = await within(bounds, async (signal) => {
    const first = await send(signal);
    const asked = sampled.temperature !== undefined || sampled.topP !== undefined;
    if (first.ok || first.failure.refusesSampling !== true || !asked || refusing.has(name)) return first;
    refusing.add(name);
    return send(signal);
  });
  if (end.done) return end.value;
  return { ok: false, failure: end.why === 'cancelled' ? CANCELLED : timedOut(bounds.timeoutMs) };
}

function timedOut(timeoutMs: number): Failure {
  return { code: 'CINNABAR_LLM_TIMEOUT', params: { seconds: Math.round(timeoutMs / 100) / 10 }, retry: true };
}

function toError({ code, params }: Failure): CinnabarError {
  return new CinnabarError(code, params);
}
