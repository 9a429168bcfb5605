import type { LettaRun } from './state.js';

/** A snapshot of a run. */
export interface LettaRunView {
  readonly id: string;
  readonly agentId: string;
  readonly conversationId: string | null;
  readonly background: boolean;
  /** The message to the agent; `null` for a run that continues after an approval. */
  readonly prompt: string | null;
  readonly otids: readonly string[];
  readonly maxSteps: number;
  readonly status: 'created' | 'running' | 'completed' | 'failed' | 'cancelled';
  readonly stopReason: string | null;
  readonly steps: number;
  /** Whether the run is over: a cancelled run still finishes its step. */
  readonly over: boolean;
  /** Start time, in milliseconds since the Unix epoch. */
  readonly startedAt: number;
}

export function viewRun(run: LettaRun): LettaRunView {
  return {
    id: run.id,
    agentId: run.agentId,
    conversationId: run.conversationId,
    background: run.background,
    prompt: run.prompt,
    otids: run.otids,
    maxSteps: run.maxSteps,
    status: run.status,
    stopReason: run.stopReason,
    steps: run.usage.steps,
    over: run.over,
    startedAt: Date.parse(run.createdAt),
  };
}
