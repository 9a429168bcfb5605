/** As Node names what reads, writes and closes files. */
const FILE_KINDS: ReadonlySet<string> = new Set(['FSReqPromise', 'FSReqCallback', 'CloseReq']);

/**
 * Whether this process is reading or writing a file. A bot that saves before it answers is not at rest while it does.
 * Someone may read a file for ever (a pipe): then it counts no longer than `patienceMs` of real time.
 */
export function createFileWork(patienceMs: number): () => boolean {
  let since: number | undefined;
  return () => {
    const pending = process.getActiveResourcesInfo().some((kind) => FILE_KINDS.has(kind));
    if (!pending) since = undefined;
    else since ??= performance.now();
    return since !== undefined && performance.now() - since < patienceMs;
  };
}
