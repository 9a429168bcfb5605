import type { LettaRun } from './state.js';

/** A run as it was when a test looked. */
export interface LettaRunView {
  readonly id: string;
  readonly agentId: string;
  readonly conversationId: string | null;
  readonly background: boolean;
  /** What the agent was told; `null` where it goes on after an approval. */
  readonly prompt: string | null;
  readonly otids: readonly string[];
  readonly maxSteps: number;
  readonly status: 'created' | 'running' | 'completed' | 'failed' | 'cancelled';
  readonly stopReason: string | null;
  readonly steps: number;
  /** Whether nothing more comes of it: a run that is cancelled still ends its step. */
  readonly over: boolean;
  /** When it began, in milliseconds since the Unix epoch. */
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
