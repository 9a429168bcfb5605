import { configure } from '@cinnabar/plugin-llm/configuration';
import { createProviders, SDK_LOADERS, type SdkLoaders } from '@cinnabar/plugin-llm/providers/registry';
import { createLlm } from '@cinnabar/plugin-llm/service';
import { ENVIRONMENT, GLOBAL_SETTINGS, type GlobalSettings } from '@cinnabar/plugin-llm/settings';
import type { Clock, Llm, LlmRequest, ParticipantMessage } from '@cinnabar/sdk';
import {
  createManualClock,
  type StandIn,
  type StandInOptions,
  startAnthropicStandIn,
  startOpenAiStandIn,
} from '@cinnabar/sdk/testing';
import { recordingLogger } from '../../support/logs.js';

/** Every way to a model. */
export const ROUTES = [
  { route: 'OpenAI Responses, streamed', provider: 'openai', api: 'responses', stream: true },
  { route: 'OpenAI Responses, whole', provider: 'openai', api: 'responses', stream: false },
  { route: 'Chat Completions, streamed', provider: 'openai', api: 'chat', stream: true },
  { route: 'Chat Completions, whole', provider: 'openai', api: 'chat', stream: false },
  { route: 'Anthropic, streamed', provider: 'anthropic', api: 'responses', stream: true },
  { route: 'Anthropic, whole', provider: 'anthropic', api: 'responses', stream: false },
] as const;
export type Route = (typeof ROUTES)[number];

export const KEY = 'sk-test-0123456789abcdef';

/** The manual clock, and a way to wait until somebody waits on it. */
export interface WatchedClock extends Clock {
  advance(byMs: number): void;
  /** Resolves when a timer of that length has been set since the last call. */
  armed(delayMs: number): Promise<void>;
  readonly pending: number;
}

export function watchedClock(): WatchedClock {
  const clock = createManualClock();
  const seen: number[] = [];
  const watchers = new Set<() => void>();
  return {
    now: clock.now,
    advance: clock.advance,
    after(delayMs, task) {
      const cancel = clock.after(delayMs, task);
      seen.push(delayMs);
      for (const look of watchers) look();
      return cancel;
    },
    armed: (delayMs) =>
      new Promise((resolve) => {
        const look = () => {
          const at = seen.indexOf(delayMs);
          if (at < 0) return;
          seen.splice(at, 1);
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    get pending() {
      return clock.pending;
    },
  };
}

export interface Bench extends AsyncDisposable {
  readonly llm: Llm;
  readonly api: StandIn;
  readonly clock: WatchedClock;
  readonly logs: ReturnType<typeof recordingLogger>;
  /** Aborts as when the plugin stops. */
  stop(): void;
  /** Changes a setting, as an owner would between two requests. */
  set(values: Partial<GlobalSettings>): void;
}

export interface BenchOptions extends StandInOptions {
  readonly settings?: Partial<GlobalSettings>;
  readonly loaders?: SdkLoaders;
  readonly withoutKey?: boolean;
}

/** The service as the plugin builds it, on a stand-in of the route's provider. */
export async function openRoute(route: Route, options: BenchOptions = {}): Promise<Bench> {
  const start = route.provider === 'openai' ? startOpenAiStandIn : startAnthropicStandIn;
  const withKey = options.withoutKey !== true;
  const api = await start({ ...(withKey ? { key: KEY } : {}), ...options });
  const clock = watchedClock();
  const logs = recordingLogger();
  const stopped = new AbortController();
  const providerFor = createProviders(clock, { next: () => 0, id: () => 'id' }, options.loaders ?? SDK_LOADERS);
  const { provider, api: endpoint, stream } = route;
  let settings = GLOBAL_SETTINGS.parse({ provider, api: endpoint, stream, ...options.settings });
  const prefix = provider.toUpperCase();
  const env = ENVIRONMENT.parse({
    ...(withKey ? { [`${prefix}_API_KEY`]: KEY } : {}),
    [`${prefix}_BASE_URL`]: api.baseUrl,
    [`${prefix}_MODEL`]: 'stand-in',
  });
  const llm = createLlm({
    setup: async () => {
      const configuration = configure(settings, env);
      return { settings, configuration, provider: providerFor(configuration.source) };
    },
    current: () => ({ provider, model: 'stand-in' }),
    clock,
    log: logs,
    signal: stopped.signal,
  });
  return {
    llm,
    api,
    clock,
    logs,
    stop: () => stopped.abort(),
    set(values) {
      settings = { ...settings, ...values };
    },
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

/** A message of a participant. */
export function from(participant: string, ...content: readonly (string | ParticipantMessage['content'][number])[]) {
  return {
    participant,
    content: content.map((block) => (typeof block === 'string' ? { type: 'text' as const, text: block } : block)),
  };
}

/** A request to the model `Cinnabar`. */
export function ask(messages: readonly ParticipantMessage[], more: Partial<LlmRequest> = {}): LlmRequest {
  return { self: 'Cinnabar', messages, ...more };
}

export const DICE = {
  name: 'roll_dice',
  description: 'Rolls dice.',
  inputSchema: {
    type: 'object',
    properties: { sides: { type: 'integer' }, times: { type: 'integer' } },
    required: ['sides'],
  },
  examples: ['roll {times} dice with {sides} sides'],
};
