import type { Clock, Logger } from '@cinnabar/sdk';
import type { Letta } from '@letta-ai/letta-client';
import type { LettaStore, SentPrompt } from '../collections.js';
import type { AgentEvent, ApprovalDecision, AskApproval, Prompt } from '../types.js';
import type { Deadline } from './deadline.js';
import type { Heard } from './heard.js';

/** What all talks with agents of a server share. */
export interface TalkParts {
  readonly store: LettaStore;
  readonly ask: AskApproval;
  readonly clock: Clock;
  readonly log: Logger;
  readonly server: ServerFindings;
}

/** What was found out about a server, as long as this process lives. */
export interface ServerFindings {
  /** Whether it has background runs. */
  background: boolean;
  /** Whether it has routes for conversations. */
  conversations: boolean;
  /** When it last refused a connection, in milliseconds since the Unix epoch. */
  refusedAt: number;
  /** Agents of which it is known that no run of an earlier process is under way. */
  readonly free: Set<string>;
  /** Runs that show as under way, and that nobody works on any more. */
  readonly dead: Set<string>;
  /** Runs that were cancelled, by agent, with the number of their messages then: their step goes on. */
  readonly cancelled: Map<string, CancelledRun>;
}

/** How far a run had come, and when. */
export interface RunMark {
  readonly runId: string;
  readonly messages: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** It makes no progress: its worker is gone. */
  readonly isDead?: true;
}

/** A run that was cancelled, and may be in its last step. */
export interface CancelledRun extends RunMark {
  /** When the server took what it was about, in milliseconds since the Unix epoch. */
  readonly since: number;
}

export function nothingFound(): ServerFindings {
  return {
    background: true,
    conversations: true,
    refusedAt: Number.NEGATIVE_INFINITY,
    free: new Set(),
    dead: new Set(),
    cancelled: new Map(),
  };
}

/** Whether the server itself lets only one run after another work with an agent, and knows a message that comes again. */
export function serializes({ background, conversations }: ServerFindings): boolean {
  return background && conversations;
}

/** One prompt, from when it is an agent's turn until its outcome is known. */
export interface Talk extends TalkParts {
  readonly client: Letta;
  readonly prompt: Prompt;
  readonly deadline: Deadline;
  /** Whoever wants the answer has gone. */
  readonly stopped: AbortSignal;
  readonly tell: (event: AgentEvent) => void;
  record: SentPrompt;
  heard: Heard;
  /** What people have decided, by the call's id: asked once, however often it has to be sent. */
  readonly decisions: Map<string, ApprovalDecision>;
  /** When the prompt's run was last known to be alive: when the server took the prompt or a decision, or the run showed progress. */
  aliveAt: number;
  /** How often a connection was lost. */
  losses: number;
  /** How often somebody else's request for approval was in the way. */
  orphans: number;
  /** The run that the agent is busy with, and how far it had come when that was first seen. Its id is '' where the server does not say it. */
  blocker: RunMark | undefined;
}

/** What comes next in a talk. */
export type Next =
  | { readonly do: 'send' }
  /** Read on from the run that was under way. */
  | { readonly do: 'reattach' }
  /** See what the server knows of it. */
  | { readonly do: 'look' }
  /** Have its requests for approval decided; `asked` is false for those of which nobody knows any more. */
  | { readonly do: 'decide'; readonly asked: boolean }
  | { readonly do: 'end' }
  | { readonly do: 'fail'; readonly error: unknown }
  /** For good, whatever the error: the agent has done something already. */
  | { readonly do: 'give-up'; readonly error: unknown; readonly sentence: string };

/** Whether the agent has done something that must not be done twice. */
export function hasActed({ heard, record }: Talk): boolean {
  return record.acted || heard.tools.size > 0;
}

/** Changes what is kept of the prompt, on the disk first. */
export async function keep(talk: Talk, change: Partial<SentPrompt>): Promise<void> {
  talk.record = await talk.store.lettaSent.of(talk.prompt.key).set({ ...talk.record, ...change });
}
