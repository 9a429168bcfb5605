/** How a worker module's functions are called from the main thread. */
export interface WorkerModule<M> {
  /**
   * Runs an exported function of the module in a worker thread. Input and result are copied (structured clone): keep results small,
   * since reading a large object back takes the main thread's time.
   * @throws UserError as the function threw it
   * @throws CinnabarError CINNABAR_WORKER_TIMEOUT, CINNABAR_WORKER_MEMORY, CINNABAR_WORKER_BUSY, CINNABAR_WORKER_FAILED
   */
  run<K extends WorkerFunctionName<M>>(
    name: K,
    input: WorkerInput<M[K]>,
    options?: WorkerRunOptions,
  ): Promise<WorkerOutput<M[K]>>;
}

export interface WorkerRunOptions {
  /**
   * What the worker may use from when it begins with the input; 5,000 by default. Afterwards it is killed. On Linux this is processor time, so
   * that a busy machine ends nothing that is in order, and ten times as much in real time; elsewhere it is real time.
   */
  readonly timeoutMs?: number;
  /** Jobs of different groups take turns: a guild's id, or a user's. By default the plugin is one group. */
  readonly group?: string;
  /** Gives up: a job that waits is taken out, one that runs is killed. */
  readonly signal?: AbortSignal;
}

/** The exports of a module that take one value. */
export type WorkerFunctionName<M> = {
  [K in keyof M & string]: M[K] extends (input: never) => unknown ? K : never;
}[keyof M & string];
export type WorkerInput<F> = F extends (input: infer I) => unknown ? I : never;
export type WorkerOutput<F> = F extends (input: never) => infer O ? Awaited<O> : never;
