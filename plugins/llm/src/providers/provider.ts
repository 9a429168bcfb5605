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
  /** `undefined` when it is not requested, or the model refuses it. */
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly stream: boolean;
  /** Whether the model can see images. */
  readonly images: boolean;
  /** In prefill mode: whether images may be part of the model's text; otherwise they are in user messages. */
  readonly assistantImages: boolean;
  /** Whether the model can be forced to call a certain tool; otherwise the prompt asks for the call. */
  readonly forceTool: boolean;
  /** The model's caching, and how a request marks it. */
  readonly cache: ModelTraits['cache'];
  /** Maximum number of bytes that are read of a streamed answer. */
  readonly maxBytes: number;
  /** Called with the text as it arrives; a provider passes it on unchanged. */
  readonly onText?: (piece: string) => void;
  /** Aborts the HTTP request. */
  readonly signal: AbortSignal;
}

export interface ProviderReply {
  readonly content: LlmCompletion['content'];
  readonly stopReason: StopReason;
  readonly usage: Usage;
  /** The number of bytes read of an answer that was not read to its end. The usage is then what the provider had reported by then, possibly nothing. */
  readonly cutAfterBytes?: number | undefined;
  /** The provider's name, which may be more exact than the requested one. */
  readonly model: string;
}

/** Why an attempt failed, as the error for the case that no other attempt succeeds. */
export interface Failure {
  readonly code: ErrorCode;
  readonly params: ErrorParams;
  /** Whether another attempt may succeed. */
  readonly retry: boolean;
  /** The delay that the provider asks for. */
  readonly retryAfterMs?: number;
  readonly status?: number;
  /** The model always refuses this parameter: without it the request would work. */
  readonly refuses?: Refusal;
  /** Whether the failure is no evidence against the model, which had hardly any time to answer. */
  readonly inconclusive?: true;
}

export type Attempt<R = ProviderReply> =
  | { readonly ok: true; readonly reply: R }
  | { readonly ok: false; readonly failure: Failure };

/** One request for embeddings. */
export interface EmbedCall {
  readonly model: string;
  /** Not empty. */
  readonly texts: readonly string[];
  readonly signal: AbortSignal;
}

/** A source of completions. It converts the normalized request into its own format, and the answer back. */
export interface Provider {
  /** The name in its definition. */
  readonly name: string;
  readonly modes: readonly Mode[];
  /** Runs one attempt. The provider's errors are returned as a failure; only defects of this program are thrown. */
  send(call: ProviderCall): Promise<Attempt>;
  /** The body that `send` would send, or a promise of it. */
  render(call: ProviderCall): unknown;
  /** Computes embeddings, by the same rules as `send`; absent when the vendor has none. */
  embed?(call: EmbedCall): Promise<Attempt<Embeddings>>;
  /** Maximum number of texts in one request. */
  readonly mostTexts?: number;
}

/** The values as a vector; other types become `NaN`, which the check of the vector finds. */
export function toVector(values: readonly unknown[] | undefined): Float32Array {
  return Float32Array.from(values ?? [], (value) => (typeof value === 'number' ? value : Number.NaN));
}
