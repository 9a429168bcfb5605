import { CinnabarError, type Clock, type Llm, type LlmCompletion, type LlmRequest, type Logger } from '@cinnabar/sdk';
import { finishCompletion } from './completion.js';
import type { Configuration } from './configuration.js';
import { traitsOf } from './models/traits.js';
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
      const { settings, provider } = setup;
      const model = modelFor(setup, request.model);
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
      for (const block of completion.content) if (block.type === 'text') request.onText?.(block.text, false);
      return completion;
    },
    async traits(model) {
      const setup = await parts.setup();
      return traitsOf(setup.provider.name, modelFor(setup, model), setup.settings.models);
    },
    async render(request) {
      const setup = await parts.setup();
      const model = modelFor(setup, request.model);
      const { provider } = setup;
      const call = planCall(setup, request, model, refusing.has(`${provider.name}:${model}`), parts.signal);
      return { provider: provider.name, model, mode: call.mode, body: provider.render(call) };
    },
  };
}

function modelFor({ provider, configuration }: Setup, wanted: string | undefined): string {
  return provider.name === 'offline' ? configuration.model : (wanted ?? configuration.model);
}

function planCall(
  { settings }: Setup,
  request: LlmRequest,
  model: string,
  refusesSampling: boolean,
  signal: AbortSignal,
): ProviderCall {
  return {
    request,
    mode: 'chat',
    model,
    maxTokens: request.maxTokens ?? settings.maxTokens,
    temperature: refusesSampling ? undefined : (request.temperature ?? settings.temperature),
    topP: refusesSampling ? undefined : request.topP,
    stream: settings.stream,
    images: settings.images,
    signal,
  };
}

async function sendWithin(
  bounds: Bounds,
  setup: Setup,
  request: LlmRequest,
  model: string,
  refusing: Set<string>,
): Promise<Attempt> {
  const name = `${setup.provider.name}:${model}`;
  const end = await within(bounds, async (signal) => {
    const call = planCall(setup, request, model, refusing.has(name), signal);
    const first = await setup.provider.send(call);
    const asked = call.temperature !== undefined || call.topP !== undefined;
    if (first.ok || first.failure.refusesSampling !== true || !asked) return first;
    refusing.add(name);
    return setup.provider.send(planCall(setup, request, model, true, signal));
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
