import type { ErrorCode } from '@cinnabar/sdk';
import type { Refusal } from '../attempt.js';
import type { Failure } from './provider.js';

/** The contents of a provider's error. */
export interface HttpProblem {
  /** `undefined` for an error inside a stream. */
  readonly status: number | undefined;
  /** The provider's names of the error: `overloaded_error`, `insufficient_quota`. */
  readonly kinds: readonly string[];
  readonly param: string | undefined;
  readonly message: string;
  readonly headers: Headers | undefined;
}

/** The account that an error is about, for its sentence. */
export interface Account {
  /** `OpenAI`, `Anthropic`. */
  readonly title: string;
  readonly keyVariable: string;
  /** Secrets that must not be shown, even when the provider repeats them. */
  readonly secrets: readonly string[];
  readonly host: string;
  /** A possible cause when the address does not exist. */
  readonly notFoundHint: string;
}

const OVERLOADED = new Set([
  'overloaded_error',
  'api_error',
  'server_error',
  'timeout_error',
  'vector_store_timeout',
  // Bedrock's names, inside a stream.
  'internalServerException',
  'modelStreamErrorException',
  'modelTimeoutException',
  'serviceUnavailableException',
]);
const RATE_LIMITED = new Set(['rate_limit_error', 'rate_limit_exceeded', 'throttlingException']);
const QUOTA_USED_UP = new Set(['insufficient_quota', 'billing_error', 'billing_not_active']);
const RETRIED_STATUS = new Set([408, 409, 425]);
/** Messages with status 400 about parameters that the model never accepts. */
const REFUSED: readonly (readonly [Refusal, RegExp])[] = [
  ['prefill', /prefill|must end with a user message/i],
  ['assistantImages', /image.{0,30}not (permitted|allowed|supported).{0,30}assistant/i],
  ['forcedTool', /tool_choice|forc(ed|es|ing) tool/i],
  // When two parameters exclude each other, the temperature is kept.
  ['topP', /top_?p/i],
  ['temperature', /temperature/i],
  ['sampling', /sampling/i],
];
const MAX_DETAIL = 300;

/** Classifies an error of a provider's API as retryable or not, with a sentence that contains no key. */
export function toFailure(problem: HttpProblem, account: Account, nowMs: number): Failure {
  const { status, kinds } = problem;
  const has = (names: ReadonlySet<string>) => kinds.some((kind) => names.has(kind));
  const withStatus = status === undefined ? {} : { status };
  const again = (code: ErrorCode): Failure => {
    const retryAfterMs = readRetryAfter(problem.headers, nowMs);
    return { code, params: {}, retry: true, ...withStatus, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  };
  if (!has(QUOTA_USED_UP) && status !== 402) {
    if (status === 429 || has(RATE_LIMITED)) return again('CINNABAR_LLM_RATE_LIMITED');
    if ((status ?? 0) >= 500 || RETRIED_STATUS.has(status ?? 0)) return again('CINNABAR_LLM_UNAVAILABLE');
    if (status === undefined && has(OVERLOADED)) return again('CINNABAR_LLM_UNAVAILABLE');
  }
  // The named parameter is more precise than the message, which may name others.
  const refuses = status === 400 ? (refusalIn(problem.param ?? '') ?? refusalIn(problem.message)) : undefined;
  return {
    code: 'CINNABAR_LLM_REFUSED',
    params: { detail: describe(problem, account, has(QUOTA_USED_UP)) },
    retry: false,
    ...(refuses === undefined ? {} : { refuses }),
    ...withStatus,
  };
}

function refusalIn(message: string): Refusal | undefined {
  return REFUSED.find(([, words]) => words.test(message))?.[0];
}

/** The connection was lost, or could not be established. */
export const CONNECTION_LOST: Failure = { code: 'CINNABAR_LLM_UNAVAILABLE', params: {}, retry: true };

/** A response that is not in the API's format. */
export function unreadable(detail: string): Failure {
  return { code: 'CINNABAR_LLM_MALFORMED', params: { detail }, retry: false };
}

/** Whether an error that no SDK has wrapped means that the connection was lost. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = [error, error.cause].map((one) => (one instanceof Error && 'code' in one ? String(one.code) : ''));
  return (
    (error instanceof TypeError && (error.message === 'terminated' || error.message === 'fetch failed')) ||
    code.some((one) => /^(UND_ERR|ECONN|EPIPE|ERR_STREAM_PREMATURE|ETIMEDOUT|ENOTFOUND)/.test(one))
  );
}

function describe(problem: HttpProblem, account: Account, quotaUsedUp: boolean): string {
  const { status } = problem;
  if (quotaUsedUp || status === 402) return `the account at ${account.title} has no credit left`;
  if (status === 401) return `${account.title} (${account.host}) did not accept the key in ${account.keyVariable}`;
  const said = withoutSecrets(problem.message.trim(), account.secrets).slice(0, MAX_DETAIL);
  if (status === 403) return `the key in ${account.keyVariable} may not do that: ${said}`;
  if (status === 404) return `${account.host} does not know this model or address (${account.notFoundHint}): ${said}`;
  return said;
}

/** Removes keys from a text, also when the provider shows only their ends. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  const whole = secrets.filter(Boolean).reduce((rest, secret) => rest.replaceAll(secret, '(key)'), text);
  return whole.replace(/\b(sk|pk|xai|key|gsk)-[\w*.-]{6,}/gi, '(key)');
}

function readRetryAfter(headers: Headers | undefined, nowMs: number): number | undefined {
  const ms = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (ms >= 0) return ms;
  const text = headers?.get('retry-after') ?? '';
  const seconds = Number.parseFloat(text);
  if (seconds >= 0) return seconds * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

type ErrorClass<E> = abstract new (...parameters: never[]) => E;

/** The contents of a provider SDK's error; `undefined` for other errors. */
export type ReadError = HttpProblem | 'connection lost' | undefined;

/** Parses errors of OpenAI's and Anthropic's SDKs: their connection errors are API errors without a response. */
export function readSdkError<E extends Error>(
  error: unknown,
  sdk: {
    readonly APIError: ErrorClass<E>;
    readonly APIConnectionError: ErrorClass<Error>;
    readonly APIUserAbortError: ErrorClass<Error>;
  },
  problemOf: (error: E) => HttpProblem,
): ReadError {
  if (error instanceof sdk.APIConnectionError || error instanceof sdk.APIUserAbortError) return 'connection lost';
  return error instanceof sdk.APIError ? problemOf(error) : undefined;
}
