import {
  CONNECTION_LOST,
  type HttpProblem,
  isConnectionLost,
  toFailure,
  unreadable,
  type Vendor,
} from './http-failure.js';
import type { Attempt } from './provider.js';

type ErrorClass<E> = abstract new (...parameters: never[]) => E;

/** What the SDKs of OpenAI and Anthropic throw. */
export interface SdkErrors<E> {
  readonly APIError: ErrorClass<E>;
  readonly APIConnectionError: ErrorClass<Error>;
  readonly APIUserAbortError: ErrorClass<Error>;
}

/**
 * Turns what an SDK throws into a failure.
 * @param problemOf reads the SDK's own error class
 * @throws what is no fault of the provider
 */
export function failedAttempt<E extends Error>(
  error: unknown,
  errors: SdkErrors<E>,
  problemOf: (error: E) => HttpProblem,
  vendor: Vendor,
  nowMs: number,
): Attempt<never> {
  const broken =
    error instanceof errors.APIConnectionError || error instanceof errors.APIUserAbortError || isConnectionLost(error);
  if (broken) return { ok: false, failure: CONNECTION_LOST };
  if (error instanceof errors.APIError) return { ok: false, failure: toFailure(problemOf(error), vendor, nowMs) };
  if (error instanceof SyntaxError) return { ok: false, failure: unreadable(`${vendor.host} did not send JSON`) };
  throw error;
}
