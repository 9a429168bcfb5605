import type { Clock } from '@cinnabar/sdk';
import type { Letta } from '@letta-ai/letta-client';
import type { LettaStreamingResponse, Message, Run } from '@letta-ai/letta-client/resources/agents/messages';

export const POLL_MS = 1_000;
/** Streams outlive any request: how long one may take is the deadline's business. */
export const STREAM_TIMEOUT_MS = 2 * 60 * 60_000;

/** Resolves with the run once it is over, however it ended. @throws what asking for it comes to; an error when the signal aborts */
export async function overRun(client: Letta, clock: Clock, runId: string, signal: AbortSignal): Promise<Run> {
  for (;;) {
    const run = await client.runs.retrieve(runId, { signal });
    if (isOver(run)) return run;
    await pause(clock, POLL_MS, signal);
  }
}

const PAGE = 100;

/**
 * Everything that a run has left, oldest first. The parts of one message have the same id, and come on one page. A page that brings nothing
 * new is the last one, also from a server that does not know the cursor.
 */
export async function messagesOf(client: Letta, runId: string, signal: AbortSignal): Promise<readonly Message[]> {
  const all: Message[] = [];
  const known = new Set<string>();
  for (;;) {
    const after = all.at(-1)?.id;
    const query = { order: 'asc' as const, limit: PAGE, ...(after === undefined ? {} : { after }) };
    const { items } = await client.runs.messages.list(runId, query, { signal });
    const fresh = items.filter(({ id }) => !known.has(id));
    all.push(...fresh);
    for (const { id } of fresh) known.add(id);
    if (fresh.length === 0 || items.length < PAGE) return all;
  }
}

export async function countMessages(client: Letta, runId: string, signal: AbortSignal): Promise<number> {
  return (await messagesOf(client, runId, signal)).length;
}

/** The rest of a background run's chunks. */
export function restOf(
  client: Letta,
  runId: string,
  after: number,
  signal: AbortSignal,
): Promise<AsyncIterable<LettaStreamingResponse>> {
  const from = { starting_after: after, include_pings: true };
  return client.runs.messages.stream(runId, from, { signal, timeout: STREAM_TIMEOUT_MS });
}

export function isOver({ status }: Run): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** @throws when the signal aborts */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      cancel();
      reject(new Error('stopped waiting'));
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
}
