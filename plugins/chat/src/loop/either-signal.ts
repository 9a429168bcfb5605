/** Runs `task` with a signal that aborts when one of `signals` does. Leaves no listener behind: they live longer than the task. */
export async function withEitherSignal<T>(
  signals: readonly AbortSignal[],
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  for (const signal of signals) {
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
  }
  try {
    return await task(controller.signal);
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', abort);
  }
}
