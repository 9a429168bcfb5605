import {
  type StandIn,
  type StandInOptions,
  startAnthropicStandIn,
  startBedrockStandIn,
  startGoogleStandIn,
  startOpenAiStandIn,
} from '@cinnabar/local-models';
import { createBreakers } from '@cinnabar/plugin-llm/dist/circuit-breaker.js';
import { createModels } from '@cinnabar/plugin-llm/dist/llm.js';
import { createProviders, PROVIDERS } from '@cinnabar/plugin-llm/dist/providers/registry.js';
import { createRouter } from '@cinnabar/plugin-llm/dist/routes.js';
import { environmentOf, type GlobalSettings, settingsOf } from '@cinnabar/plugin-llm/dist/settings.js';
import { describeStatus } from '@cinnabar/plugin-llm/dist/status.js';
import {
  type Charge,
  type ChargedRequest,
  type Llm,
  type LlmRequest,
  meterLlm,
  type ParticipantMessage,
  type Usage,
} from '@cinnabar/sdk';
import { recordingLogger } from '../../support/logs.js';
import { type WatchedClock, watchedClock } from '../../support/watched-clock.js';

export const GLOBAL_SETTINGS = settingsOf(PROVIDERS);
export const ENVIRONMENT = environmentOf(PROVIDERS);

/** The output of `llm status` for these settings and environment variables. */
export function statusOf(settings: object, env: object = {}): Promise<string> {
  const breakers = createBreakers(watchedClock(), recordingLogger());
  return describeStatus(createRouter(PROVIDERS), breakers, GLOBAL_SETTINGS.parse(settings), ENVIRONMENT.parse(env));
}

/** All providers, with their endpoints. */
export const ROUTES = [
  { route: 'OpenAI Responses, streamed', provider: 'openai', api: 'responses', stream: true },
  { route: 'OpenAI Responses, whole', provider: 'openai', api: 'responses', stream: false },
  { route: 'Chat Completions, streamed', provider: 'openai', api: 'chat', stream: true },
  { route: 'Chat Completions, whole', provider: 'openai', api: 'chat', stream: false },
  { route: 'Anthropic, streamed', provider: 'anthropic', api: 'responses', stream: true },
  { route: 'Anthropic, whole', provider: 'anthropic', api: 'responses', stream: false },
  { route: 'Bedrock, streamed', provider: 'bedrock', api: 'responses', stream: true },
  { route: 'Bedrock, whole', provider: 'bedrock', api: 'responses', stream: false },
  { route: 'Google, streamed', provider: 'google', api: 'responses', stream: true },
  { route: 'Google, whole', provider: 'google', api: 'responses', stream: false },
] as const;
export type Route = (typeof ROUTES)[number];

export const KEY = 'sk-test-0123456789abcdef';
const SECRET = 'aws-secret-0123456789';

const START = {
  openai: startOpenAiStandIn,
  anthropic: startAnthropicStandIn,
  bedrock: startBedrockStandIn,
  google: startGoogleStandIn,
};
/** The environment variable of each provider's key. */
const KEYS = {
  openai: { OPENAI_API_KEY: KEY },
  anthropic: { ANTHROPIC_API_KEY: KEY },
  bedrock: { AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: SECRET, AWS_REGION: 'eu-west-1' },
  google: { GOOGLE_API_KEY: KEY },
};

export interface Harness extends AsyncDisposable {
  readonly llm: Llm;
  readonly api: StandIn;
  readonly clock: WatchedClock;
  readonly logs: ReturnType<typeof recordingLogger>;
  /** The recorded usage of each answer. */
  readonly metered: readonly Usage[];
  /** The output of `llm status`. */
  status(): Promise<string>;
  /** Aborts as the stop of the plugin does. */
  stop(): void;
  /** Changes a setting, as an owner can between two requests. */
  set(values: Partial<GlobalSettings>): void;
}

export interface HarnessOptions extends StandInOptions {
  readonly settings?: object;
  readonly withoutKey?: boolean;
  readonly model?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The service as the plugin creates it, with a stand-in for the route's provider. */
export async function openRoute(route: Route, options: HarnessOptions = {}): Promise<Harness> {
  const withKey = options.withoutKey !== true;
  const { provider, api: endpoint, stream } = route;
  const api = await START[provider]({ ...(withKey ? { key: KEY } : {}), ...options });
  const clock = watchedClock();
  const logs = recordingLogger();
  const stopped = new AbortController();
  let serial = 0;
  const random = { next: () => 0, id: () => `id${++serial}` };
  const providerFor = createProviders(clock, random);
  const router = createRouter(PROVIDERS);
  let settings = GLOBAL_SETTINGS.parse({ provider, api: endpoint, stream, ...options.settings });
  const prefix = provider.toUpperCase();
  const env = ENVIRONMENT.parse({
    ...(withKey ? KEYS[provider] : {}),
    [`${prefix}_BASE_URL`]: api.baseUrl,
    [`${prefix}_MODEL`]: options.model ?? 'stand-in',
    ...options.env,
  });
  const breakers = createBreakers(clock, logs);
  const metered: Usage[] = [];
  const models = createModels({
    setup: async () => ({ settings, routes: await router.routes(settings, env), providerFor }),
    current: () => ({ provider, model: 'stand-in' }),
    breakers,
    metrics: {
      ended: (_candidate, _startedAt, end) => void ('usage' in end && metered.push(end.usage)),
      embedded: () => undefined,
    },
    clock,
    random,
    log: logs,
    signal: stopped.signal,
  });
  return {
    llm: meterLlm(models, { accounts: undefined, clock, random: { id: () => 'work' } }),
    api,
    clock,
    logs,
    metered,
    status: () => describeStatus(router, breakers, settings, env),
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

export const CHARGE: Charge = {
  actor: { userId: '1', guildId: null, channelId: '2' },
  responder: 'test',
  trigger: 'I was tested',
};

/** A request to the model `Cinnabar`. */
export function ask(messages: readonly ParticipantMessage[], more: Partial<LlmRequest> = {}): ChargedRequest {
  return { self: 'Cinnabar', messages, charge: CHARGE, ...more };
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
