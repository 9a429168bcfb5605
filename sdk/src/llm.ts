import type { z } from 'zod';
import type { Actor } from './access.js';
import type { Receipt } from './accounts.js';
import type { Charge, WorkCharge, WorkDetails } from './metering.js';
import type { CheckResult } from './observability.js';
import type { SetupNeed } from './plugins.js';
import { t } from './text/language.js';
import { defineToken } from './token.js';

export interface TextContent {
  readonly type: 'text';
  readonly text: string;
}
/** An image: `data` is base64 or a URL, according to `type`. */
export interface ImageContent {
  readonly type: 'image';
  readonly source: { readonly type: 'base64' | 'url'; readonly data: string; readonly mediaType: string };
}
export interface ToolUseContent {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}
/** A tool call whose arguments could not be parsed: an outcome, not an exception. */
export interface MalformedToolUseContent {
  readonly type: 'malformed_tool_use';
  readonly id: string;
  readonly name: string;
  readonly raw: string;
  readonly reason: string;
}
/** The result of the tool call with the id `toolUseId`. */
export interface ToolResultContent {
  readonly type: 'tool_result';
  readonly toolUseId: string;
  readonly content: string | readonly ContentBlock[];
  readonly isError?: boolean;
}
export type ContentBlock = TextContent | ImageContent | ToolUseContent | ToolResultContent;

/** Ends a cached prefix here. `ttl` is how long the provider keeps it; `5m` by default. */
export interface CacheControl {
  readonly type: 'ephemeral';
  readonly ttl?: '5m' | '1h';
}

/** One participant's contribution. The model's own carry the request's `self`. */
export interface ParticipantMessage {
  readonly participant: string;
  readonly content: readonly ContentBlock[];
  readonly timestamp?: Date;
  readonly messageId?: string;
  readonly cacheControl?: CacheControl;
}

/** A message that consists of one text. */
export const textMessage = (participant: string, text: string): ParticipantMessage => ({
  participant,
  content: [{ type: 'text', text }],
});

/** A tool as it is offered to a model. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Utterances with slots; the offline model answers from them. */
  readonly examples?: readonly string[];
}

/** A request to a language model, in the form for all providers. */
export interface LlmRequest {
  /** Participant name of the model itself: its messages become the assistant's. */
  readonly self: string;
  readonly messages: readonly ParticipantMessage[];
  readonly system?: string;
  readonly tools?: readonly ModelTool[];
  readonly stopSequences?: readonly string[];
  /** By default the host's configured model. */
  readonly model?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly topP?: number;
  /** Asks for JSON of this shape instead of prose; the completion's `structured` is validated by it. */
  readonly output?: { readonly name: string; readonly schema: z.ZodObject };
  /**
   * `chat` by default. `prefill` writes the conversation as one text that the model continues. When a model refuses that, chat is used, and a log entry says
   * so.
   */
  readonly mode?: 'chat' | 'prefill';
  /** In prefill mode: the last message is the model's own, and the model continues it instead of beginning another one. */
  readonly goesOn?: boolean;
  /** Models to try in order when the first cannot answer: down, rate-limited or timed out, after its own retries. */
  readonly fallbacks?: readonly string[];
  /**
   * Called with each piece of text as it arrives; the completion has the whole text. `restart` is true after a repeated attempt: discard the pieces before it.
   */
  readonly onText?: (piece: string, restart: boolean) => void;
  /** Cached prefixes that end before the messages; those within the messages use `cacheControl`. */
  readonly cache?: { readonly tools?: CacheControl; readonly system?: CacheControl };
  /** Time limit of one attempt. */
  readonly timeoutMs?: number;
  /** Deadline for the answer, in milliseconds since 1970, by the clock: includes retries, delays and fallbacks. The owner's setting limits it as well. */
  readonly deadlineAt?: number;
  /** Maximum number of repetitions of a failed attempt that may be retried. */
  readonly retries?: number;
  /** Cancels the HTTP request. */
  readonly signal?: AbortSignal;
}

/** A request with the required charge: for whom and why. */
export type ChargedRequest = LlmRequest & { readonly charge: Charge };

export type StopReason = 'end_turn' | 'max_tokens' | 'stop_sequence' | 'tool_use' | 'refusal';

/** Tokens by price. The whole prompt is the sum of `inputTokens`, `cacheCreationTokens` and `cacheReadTokens` for every provider. */
export interface Usage {
  /** Neither read from a cache nor written to one. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheCreationTokens?: number;
  readonly cacheReadTokens?: number;
  /** Of `cacheCreationTokens`, those that the provider keeps for an hour. */
  readonly cacheCreation1hTokens?: number;
}

/** A model's answer, in the form of all providers. */
export interface LlmCompletion {
  readonly content: readonly (TextContent | ToolUseContent | MalformedToolUseContent)[];
  readonly stopReason: StopReason;
  readonly usage: Usage;
  readonly model: string;
  readonly provider: string;
  /** Number of further tool calls above the limit of one answer; these are left out. */
  readonly droppedCalls?: number;
  /** Parameters that were left out since the model refuses them: `temperature 0.6`. */
  readonly omitted?: readonly string[];
  /** Present when `output` was requested and the answer matches its schema. */
  readonly structured?: unknown;
  /** The mode that was used: prefill may have been replaced by chat. */
  readonly mode: 'chat' | 'prefill';
}

/** Money per million tokens, in US dollars. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
}

/** The capabilities of a model, as far as they are known. */
export interface ModelTraits {
  readonly provider: string;
  readonly model: string;
  readonly modes: readonly ('chat' | 'prefill')[];
  readonly images: boolean;
  readonly contextTokens: number;
  readonly cache: {
    /** `explicit`: by breakpoints; `automatic`: the provider caches prefixes by itself; `none`. */
    readonly kind: 'explicit' | 'automatic' | 'none';
    readonly breakpoints: number;
    /** Shorter prefixes are not cached, without an error. */
    readonly minTokens: number;
    readonly ttls: readonly ('5m' | '1h')[];
    /** The number of blocks before a breakpoint in which the provider looks for an earlier cache entry. */
    readonly lookBackBlocks: number;
  };
  /** `undefined` when it is not known: then costs are counted in tokens only. */
  readonly price: ModelPrice | undefined;
}

/** The meaning of texts as vectors: the nearer two vectors (by cosine), the more similar the texts. */
export interface Embeddings {
  /** One for each text, in their order, all of one length. Vectors of different models cannot be compared. */
  readonly vectors: readonly Float32Array[];
  /** The provider's name of the model: store it with the vectors. */
  readonly model: string;
  /** Estimated when the provider does not report it. */
  readonly tokens: number;
}

/** Options of a request for embeddings. */
export interface EmbedRequest {
  /** The account that is charged, and the reason. */
  readonly charge: Charge;
  /** By default the host's configured model for embeddings. */
  readonly model?: string;
  /** Cancels the HTTP request. */
  readonly signal?: AbortSignal;
}

/** A request in its provider's own form. */
export interface RenderedRequest {
  readonly provider: string;
  readonly model: string;
  readonly mode: 'chat' | 'prefill';
  readonly body: unknown;
}

/** Language models, with budgets and receipts. Provided by `llm`. */
export interface Llm {
  /**
   * @throws CinnabarError CINNABAR_LLM_… , each with a sentence for people
   * @throws BudgetExceededError before anything is sent
   */
  complete(request: ChargedRequest): Promise<LlmCompletion>;
  /**
   * Vectors of texts, for search by meaning. `undefined` where no configured vendor offers embeddings: this is the default, until the owner has named a model
   * for them. Many texts are sent in several requests.
   * @throws CinnabarError CINNABAR_LLM_… , each with a sentence for people
   * @throws BudgetExceededError before anything is sent
   */
  embed(texts: readonly string[], request: EmbedRequest): Promise<Embeddings | undefined>;
  /**
   * Ends a piece of work of several requests, and adds `details` to its receipt. Call it in a `finally`: until then the work has a reservation in the budgets.
   * @returns its receipt, also where no accounts keep it; `undefined` when no model has answered
   */
  finishWork(charge: WorkCharge, details?: WorkDetails): Promise<Receipt | undefined>;
  /** Traits of a model, or of the one that answers when a request names none. */
  traits(model?: string): Promise<ModelTraits>;
  /**
   * The obstacles to an answer for a member, before a request is made: budgets, and whether the model is configured, accepts the key and is not blocked by a
   * circuit breaker. For `diagnose`; no request is sent.
   */
  findings(actor: Actor, request?: Pick<LlmRequest, 'model' | 'fallbacks'>): Promise<readonly CheckResult[]>;
  /** The provider's request as it would be sent, for inspection and tests; nothing is sent. */
  render(request: LlmRequest): Promise<RenderedRequest>;
  /** The model for requests that name none: for status lines. */
  readonly current: { readonly provider: string; readonly model: string };
}
export const Llm = defineToken<Llm>('cinnabar.llm');

/** For `needsSetup` of plugins that do nothing without a language model. */
export function modelNeed(llm: Pick<Llm, 'current'> | undefined): SetupNeed | undefined {
  if (hasModel(llm)) return undefined;
  return {
    problem: t('No language model is set up.'),
    remedy: t('The owner of the bot connects one: `llm status` says how.'),
  };
}

/** Whether a real language model answers, and not the offline one that only matches fixed sentences: features that need one are not offered otherwise. */
export function hasModel(llm: Pick<Llm, 'current'> | undefined): boolean {
  return llm !== undefined && llm.current.provider !== 'offline';
}

/** For `diagnose` of features that need a language model: whether one would answer a member, and their budgets admit it. */
export async function modelFindings(
  llm: Pick<Llm, 'findings'> | undefined,
  actor: Actor,
  request?: Pick<LlmRequest, 'model' | 'fallbacks'>,
): Promise<readonly CheckResult[]> {
  if (llm !== undefined) return llm.findings(actor, request);
  const remedy = t('The owner of the bot loads what connects one: `plugin load llm`.');
  return [{ ok: false, text: t('no language model is connected'), remedy }];
}

const BASE64 = /^(?:data:[\w/+.-]+;base64,)?[\w+/=-]{1000,}$/;

/** The body of a request as indented JSON, for people: for images and other base64 only the length. */
export function requestBodyText(body: unknown): string {
  const text = JSON.stringify(
    body,
    (_key, value: unknown) =>
      typeof value === 'string' && BASE64.test(value) ? `(${value.length} characters of base64)` : value,
    2,
  );
  return text ?? 'null';
}
