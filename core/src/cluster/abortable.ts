import { type Logger, type ToolProgress, z } from '@cinnabar/sdk';
import type { ClusterChannel, RequestHandler, RequestKind } from './assignment.js';
import { objectWith } from './channel.js';

/** Longer than any tool may take. When the process that runs it dies, the answer comes sooner. */
const CALLED_MS = 65 * 60_000;
/** A group that moves is served again within seconds. */
const BEGUN_MS = 20_000;
const ABORTED_MS = 10_000;

const progress = objectWith<ToolProgress>('progress');

const ABORT: RequestKind<{ readonly id: string }, boolean> = {
  name: 'tools.abort',
  body: z.object({ id: z.string() }),
  answer: z.boolean(),
};

/** A request that has an id by which it can be aborted before it is answered. */
interface Named {
  readonly id: string;
}

export interface AbortableOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
}

export type AbortableRequests = ReturnType<typeof createAbortableRequests>;

/** Requests that may take minutes. When the requester aborts one, the process that carries it out is told, and its answer says how it ended. */
export function createAbortableRequests(channel: ClusterChannel, log: Logger) {
  const running = new Map<string, AbortController>();
  channel.answer(ABORT, async ({ id }) => {
    const request = running.get(id);
    request?.abort();
    return request !== undefined;
  });

  return {
    answer<B extends Named, T>(kind: RequestKind<B, T>, handle: RequestHandler<B, T>): void {
      channel.answer(kind, async (body, ending, report) => {
        const abort = new AbortController();
        running.set(body.id, abort);
        try {
          return await handle(body, AbortSignal.any([abort.signal, ending]), report);
        } finally {
          running.delete(body.id);
        }
      });
    },
    /** @throws what `ClusterChannel.ask` throws; the reason of a signal that was aborted before */
    async ask<B extends Named, T>(
      group: number,
      kind: RequestKind<B, T>,
      request: B,
      { signal, onProgress }: AbortableOptions,
    ): Promise<T> {
      signal?.throwIfAborted();
      const { id } = request;
      const abort = () =>
        void channel
          .ask(group, ABORT, { id }, { deadlineMs: ABORTED_MS })
          .catch((error: unknown) => log.debug('a request to another process goes on', { kind: kind.name, error }));
      signal?.addEventListener('abort', abort, { once: true });
      try {
        return await channel.ask(group, kind, request, {
          deadlineMs: CALLED_MS,
          begunMs: BEGUN_MS,
          onReport(sign) {
            const known = progress.safeParse(sign);
            if (known.success) onProgress?.(known.data);
          },
        });
      } finally {
        signal?.removeEventListener('abort', abort);
      }
    },
  };
}
