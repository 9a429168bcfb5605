import { CinnabarError, type ErrorCode } from '@cinnabar/sdk';
import { expect } from 'chai';

/** Expects a task to fail with a coded error. @returns the error */
export async function failure(code: ErrorCode, task: () => unknown): Promise<CinnabarError> {
  try {
    await task();
  } catch (error) {
    if (!(error instanceof CinnabarError)) throw error;
    expect(error.code).to.equal(code);
    return error;
  }
  throw new Error(`nothing failed; ${code} was expected`);
}
