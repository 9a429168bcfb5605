import type { ErrorCode } from '@cinnabar/sdk';
import type { Failure } from './provider.js';

/** What a provider's SDK tells of an error. */
export interface HttpProblem {
  /** `undefined` for an error inside a stream. */
  readonly status: number | undefined;
  /** The provider's own name of the error: `overloaded_error`, `insufficient_quota`. */
  readonly kinds: readonly string[];
  readonly param: string | undefined;
  readonly message: string;
  readonly headers: Headers | undefined;
}

/** Whom an error is about, for its sentence. */
export interface Vendor {
  /** `OpenAI`, `Anthropic`. */
  readonly title: string;
  readonly keyVariable: string;
  readonly key: string | undefined;
  readonly host: string;
  /** What may be wrong when the address does not exist. */
  readonly notFoundHint: string;
}

const OVERLOADED = new Set(['overloaded_error', 'api_error', 'server_error', 'timeout_error', 'vector_store_timeout']);
const RATE_LIMITED = new Set(['rate_limit_error', 'rate_limit_exceeded']);
const QUOTA_USED_UP = new Set(['insufficient_quota', 'billing_error', 'billing_not_active']);
const RETRIED_STATUS = new Set([408, 409, 425]);
const SAMPLING = /temperature|top_p|sampling/i;
const MAX_DETAIL = 300;

/** Sorts an error of a provider's API into what can be tried again and what cannot, with a sentence that holds no key. */
export function toFailure(problem: HttpProblem, vendor: Vendor, nowMs: number): Failure {
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
  const refusesSampling = status === 400 && SAMPLING.test(`${problem.param ?? ''} ${problem.message}`);
  return {
    code: 'CINNABAR_LLM_REFUSED',
    params: { detail: describe(problem, vendor, has(QUOTA_USED_UP)) },
    retry: false,
    refusesSampling,
    ...withStatus,
  };
}

/** The connection broke, or was never there. */
export const CONNECTION_LOST: Failure = { code: 'CINNABAR_LLM_UNAVAILABLE', params: {}, retry: true };

/** The answer came, but not in the API's form. */
export function unreadable(detail: string): Failure {
  return { code: 'CINNABAR_LLM_MALFORMED', params: { detail }, retry: false };
}

/** Whether an error that no SDK has wrapped says that the connection broke. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = [error, error.cause].map((one) => (one instanceof Error && 'code' in one ? String(one.code) : ''));
  return (
    (error instanceof TypeError && (error.message === 'terminated' || error.message === 'fetch failed')) ||
    code.some((one) => /^(UND_ERR|ECONN|EPIPE|ERR_STREAM_PREMATURE|ETIMEDOUT|ENOTFOUND)/.test(one))
  );
}

function describe(problem: HttpProblem, vendor: Vendor, quotaUsedUp: boolean): string {
  const { status } = problem;
  if (quotaUsedUp || status === 402) return `the account at ${vendor.title} has no credit left`;
  if (status === 401) return `${vendor.title} (${vendor.host}) did not accept the key in ${vendor.keyVariable}`;
  const said = withoutKey(problem.message.trim(), vendor.key).slice(0, MAX_DETAIL);
  if (status === 403) return `the key in ${vendor.keyVariable} may not do that: ${said}`;
  if (status === 404) return `${vendor.host} does not know this model or address (${vendor.notFoundHint}): ${said}`;
  return said;
}

/** Takes a key out of a text, also where the provider shows only its ends. */
function withoutKey(text: string, key: string | undefined): string {
  const whole = key === undefined || key === '' ? text : text.replaceAll(key, '(key)');
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
