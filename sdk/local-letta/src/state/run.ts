import type { Message, Run } from '@letta-ai/letta-client/resources/agents/messages';
import type { StopReasonType } from '@letta-ai/letta-client/resources/runs/runs';

/** Why a run failed, as its stream and its metadata tell it. */
export interface RunFailure {
  readonly type: string;
  readonly message: string;
  readonly detail: string;
}

/** One answer of an agent under way, or over. */
export interface LettaRun {
  readonly id: string;
  readonly agentId: string;
  readonly conversationId: string | null;
  readonly background: boolean;
  readonly maxSteps: number;
  /** What the agent was told; `null` where it goes on after an approval. */
  readonly prompt: string | null;
  /** Of the messages that it answers. */
  readonly otids: readonly string[];
  readonly createdAt: string;
  /** `cancelled` as soon as it is cancelled: its step goes on to the end all the same. */
  status: NonNullable<Run['status']>;
  stopReason: StopReasonType | null;
  completedAt: string | null;
  readonly usage: { steps: number; promptTokens: number; completionTokens: number };
  /** As they go over the wire, in order; the first has sequence number 1. */
  readonly frames: string[];
  /** What it has said, whether or not it is stored yet. */
  readonly said: Message[];
  error: RunFailure | undefined;
  /** Whether nothing more comes. */
  over: boolean;
  /** The server that it ran in was killed: it shows as it was for ever, and nothing more comes of it. */
  dead: boolean;
  /** Aborts when the server that it runs in goes down. */
  readonly stopped: AbortController;
  /** Called after each frame, at the end, and when whoever listens is to be cut off. */
  readonly listeners: Set<(event: 'more' | 'cut') => void>;
}
