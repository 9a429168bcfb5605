import type { LettaStreamingResponse } from '@letta-ai/letta-client/resources/agents/messages';
import type { StopReasonType } from '@letta-ai/letta-client/resources/runs/runs';
import { errorMessage, stopReason, usage } from '../payload/chunks.js';
import type { LettaRun } from '../state/run.js';
import { timestamp, type World } from '../state/world.js';

/** Puts a chunk into the run's stream. Only of background runs are they numbered. */
export function emit(run: LettaRun, chunk: LettaStreamingResponse): void {
  const numbered = run.background && 'date' in chunk ? { ...chunk, seq_id: run.frames.length + 1 } : chunk;
  put(run, `data: ${JSON.stringify(numbered)}\n\n`);
}

/** Ends a run. An error goes over the wire as an event of that name, as the server's own do. */
export function finish(
  world: World,
  run: LettaRun,
  reason: StopReasonType,
  error?: { readonly type: string; readonly message: string },
): void {
  if (run.over) return;
  run.stopReason = reason;
  run.status = error === undefined ? (reason === 'cancelled' ? 'cancelled' : 'completed') : 'failed';
  run.error = error;
  run.completedAt = timestamp(world);
  emit(run, stopReason(reason));
  if (error !== undefined)
    put(run, `event: error\ndata: ${JSON.stringify(errorMessage(run, error.type, error.message))}\n\n`);
  else if (reason !== 'cancelled') emit(run, usage(run));
  run.over = true;
  world.active.delete(run);
  put(run, 'data: [DONE]\n\n');
  for (const watch of [...world.watchers]) watch();
}

function put(run: LettaRun, frame: string): void {
  run.frames.push(frame);
  for (const tell of [...run.listeners]) tell('more');
}
