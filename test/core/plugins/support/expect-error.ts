import { CinnabarError, type ErrorCode } from '@cinnabar/sdk';
import { expect } from 'chai';

/** Expects a coded error. @returns its sentence */
export async function codedError(code: ErrorCode, work: Promise<unknown>): Promise<string> {
  const failure = await work.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  );
  if (!(failure instanceof CinnabarError)) throw failure instanceof Error ? failure : new Error(String(failure));
  expect(failure.code).to.equal(code);
  return failure.message;
}
