import type { LettaStreamingResponse } from '@letta-ai/letta-client/resources/agents/messages';
import type { StopReasonType } from '@letta-ai/letta-client/resources/runs/runs';
import { errorMessage, stopReason, usage } from '../payload/chunks.js';
import type { LettaRun, RunFailure } from '../state/run.js';
import { timestamp, type World } from '../state/world.js';

/** Puts a chunk into the run's stream. Only of background runs are they numbered. */
export function emit(run: LettaRun, chunk: LettaStreamingResponse): void {
  const numbered = run.background && 'date' in chunk ? { ...chunk, seq_id: run.frames.length + 1 } : chunk;
  put(run, `data: ${JSON.stringify(numbered)}\n\n`);
}

const COMPLETED: ReadonlySet<StopReasonType> = new Set(['end_turn', 'max_steps', 'tool_rule', 'requires_approval']);

/** Ends a run: one that was cancelled stays so, however its last step ended. An error goes over the wire as an event of that name. */
export function finish(world: World, run: LettaRun, ended: StopReasonType, failure?: RunFailure): void {
  if (run.over || run.dead) return;
  const isCancelled = run.status === 'cancelled';
  const reason = isCancelled ? 'cancelled' : ended;
  const error = isCancelled ? undefined : failure;
  run.stopReason = reason;
  if (!isCancelled) run.status = error === undefined && COMPLETED.has(reason) ? 'completed' : 'failed';
  run.error = error;
  run.completedAt ??= timestamp(world);
  emit(run, stopReason(reason));
  if (error !== undefined) put(run, `event: error\ndata: ${JSON.stringify(errorMessage(run, error))}\n\n`);
  else if (!isCancelled) emit(run, usage(run));
  run.over = true;
  world.active.delete(run);
  put(run, 'data: [DONE]\n\n');
  for (const watch of [...world.watchers]) watch();
}

function put(run: LettaRun, frame: string): void {
  run.frames.push(frame);
  for (const tell of [...run.listeners]) tell('more');
}
