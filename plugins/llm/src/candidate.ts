import type { LlmRequest, Logger, ModelTraits } from '@cinnabar/sdk';
import type { Connection } from './providers/definition.js';
import type { Mode, Provider, ProviderCall } from './providers/provider.js';
import type { Routes } from './routes.js';
import type { GlobalSettings } from './settings.js';
import { traitsOf } from './traits.js';
import type { Vendor } from './vendors.js';

/** How requests are made at the moment: read anew for each one, so that a changed setting holds from the next request on. */
export interface Setup {
  readonly settings: GlobalSettings;
  readonly routes: Routes;
  readonly providerFor: (connection: Connection) => Provider;
}

/** A model that could answer a request, and all that is known about it. */
export interface Candidate {
  readonly vendor: Vendor;
  readonly provider: Provider;
  readonly model: string;
  /** Unique to model and vendor: for what is learned. */
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

/** Why a request that asks for prefill cannot have it; `undefined` when it can, or does not ask. */
export function whyChat(request: LlmRequest, { traits, name }: Candidate, learned: Learned): string | undefined {
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

/** The parameters that were wanted, and left out since the model refuses them. */
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

/** One attempt with everything decided that the request leaves open. */
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

/** What a model refuses, each time: it is asked once. */
export type Refusal = 'temperature' | 'topP' | 'sampling' | 'prefill' | 'assistantImages' | 'forcedTool';

/** What has been found out about models by trying. */
export interface Learned {
  refuses(model: string, what: Refusal): boolean;
  /** @returns whether that is news */
  learn(model: string, what: Refusal): boolean;
  /** Tells of a prefill that became chat, once for each model and reason. */
  noteChat(log: Logger, model: string, reason: string): void;
}

/** @remarks models are named with their vendor: `anthropic:claude-sonnet-5` */
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
