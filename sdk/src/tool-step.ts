/**
 * The calls that a model makes in one response. What asks a member about them waits until all of them have been made, so that it can ask once
 * for all.
 */
export interface ToolStep {
  /** Lets the next call of the step be made. Resolves when all of them have been made, or are over. */
  rest(): Promise<void>;
}

/**
 * Runs tasks one after another, each with the step that they share: what the first changes, the second finds. A task that waits for the rest
 * of its step lets the next one begin. Rejects with what the first task that failed threw.
 * @example const outcomes = await inStep(requests.map((request) => (step) => tools.invoke({ ...request, step })));
 */
export async function inStep<T>(tasks: readonly ((step: ToolStep) => Promise<T>)[]): Promise<readonly T[]> {
  let complete: () => void = () => undefined;
  const all = new Promise<void>((resolve) => {
    complete = resolve;
  });
  let goOn: () => void = () => undefined;
  const step: ToolStep = {
    rest() {
      goOn();
      return all;
    },
  };
  const results: Promise<T>[] = [];
  try {
    for (const task of tasks) {
      const rests = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const result = task(step);
      results.push(result);
      // It is waited for below; until then a failure of another one goes first.
      result.catch(() => undefined);
      await Promise.race([result, rests]);
    }
  } finally {
    complete();
  }
  return Promise.all(results);
}
