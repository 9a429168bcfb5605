import { expect } from 'chai';

/** Expects a task to reject with an error of that class. @returns the error */
export async function rejected<E>(
  kind: abstract new (...parameters: never[]) => E,
  task: () => PromiseLike<unknown>,
): Promise<E> {
  try {
    await task();
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  return expect.fail(`nothing was rejected; ${kind.name} was expected`);
}
