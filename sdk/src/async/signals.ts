/**
 * One signal that aborts with any of `sources`. Call `release` when the work is over: sources live long, and
 * `AbortSignal.any` would keep what hangs on them.
 */
export function linkSignals(...sources: readonly AbortSignal[]): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const listeners = sources.map((source) => {
    const abort = () => controller.abort(source.reason);
    if (source.aborted) abort();
    source.addEventListener('abort', abort, { once: true });
    return () => source.removeEventListener('abort', abort);
  });
  return {
    signal: controller.signal,
    release() {
      for (const remove of listeners) remove();
    },
  };
}
