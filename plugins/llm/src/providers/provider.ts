import type {
  Embeddings,
  ErrorCode,
  ErrorParams,
  LlmCompletion,
  LlmRequest,
  ModelTraits,
  StopReason,
  Usage,
} from '@cinnabar/sdk';
import type { Refusal } from '../attempt.js';

/** The form of a conversation for a model: roles, or one text that the model continues. */
export type Mode = 'chat' | 'prefill';

/** One attempt with all open parameters decided. */
export interface ProviderCall {
  readonly request: LlmRequest;
  readonly mode: Mode;
  readonly model: string;
  readonly maxTokens: number | undefined;
  /** `undefined` when not wanted, or when this model refuses it. */
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly stream: boolean;
  /** Whether the model can see images. */
  readonly images: boolean;
  /** In prefill: whether images may be part of the model's text; otherwise they are a user's. */
  readonly assistantImages: boolean;
  /** Whether the model can be made to call a certain tool; otherwise it is asked to. */
  readonly forceTool: boolean;
  /** The model's caching, and how a request marks it. */
  readonly cache: ModelTraits['cache'];
  /** How much of a streamed answer is read. */
  readonly maxBytes: number;
  /** Called with the text as it arrives; a provider passes it on unchanged. */
  readonly onText?: (piece: string) => void;
  /** Ends the HTTP request at once. */
  readonly signal: AbortSignal;
}

export interface ProviderReply {
  readonly content: LlmCompletion['content'];
  readonly stopReason: StopReason;
  readonly usage: Usage;
  /** How much was read of an answer that was not read to its end. The usage is then what the provider had reported by then, possibly nothing. */
  readonly cutAfterBytes?: number | undefined;
  /** The provider's name, which may be more exact than the requested one. */
  readonly model: string;
}

/** Why an attempt failed, as the error that results when no other attempt succeeds. */
export interface Failure {
  readonly code: ErrorCode;
  readonly params: ErrorParams;
  /** Whether another attempt may work. */
  readonly retry: boolean;
  /** How long the provider asks to wait. */
  readonly retryAfterMs?: number;
  readonly status?: number;
  /** The model always refuses this parameter: without it the request would work. */
  readonly refuses?: Refusal;
  /** It says nothing about the model: there was hardly any time to answer. */
  readonly inconclusive?: true;
}

export type Attempt<R = ProviderReply> =
  | { readonly ok: true; readonly reply: R }
  | { readonly ok: false; readonly failure: Failure };

/** One request for embeddings. */
export interface EmbedCall {
  readonly model: string;
  /** None of them empty. */
  readonly texts: readonly string[];
  readonly signal: AbortSignal;
}

/** A source of completions. It transforms the normalized request into its own format and the answer back. */
export interface Provider {
  /** The name in its definition. */
  readonly name: string;
  readonly modes: readonly Mode[];
  /** One attempt. The provider's errors are returned as a failure; only our own defects are thrown. */
  send(call: ProviderCall): Promise<Attempt>;
  /** The body that `send` would send, or a promise of it. */
  render(call: ProviderCall): unknown;
  /** Vectors of texts, by the same rules as `send`; not every vendor has them. */
  embed?(call: EmbedCall): Promise<Attempt<Embeddings>>;
  /** How many texts one request may hold. */
  readonly mostTexts?: number;
}

/** Values of a list of numbers; others become `NaN`, which the check of the vector finds. */
export function toVector(values: readonly unknown[] | undefined): Float32Array {
  return Float32Array.from(values ?? [], (value) => (typeof value === 'number' ? value : Number.NaN));
}
