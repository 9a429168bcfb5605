import { setMaxListeners } from 'node:events';
import { type Clock, type Collection, type Logger, z } from '@cinnabar/sdk';
import type { Letta } from '@letta-ai/letta-client';
import { SWITCHED_OFF } from '../../events/event.js';
import type { RunMark, ServerFindings } from '../client.js';
import type { StreamState } from './consume-stream.js';

/** The place of a prompt, for approvals and for personal data. */
interface PromptPlace {
  readonly guildId: string | null;
  readonly channelId: string;
  /** The member who caused the event; `null` without one. */
  readonly userId: string | null;
}

/** A prompt to an agent. */
export interface Prompt {
  /** The agent's id at the Letta server. */
  readonly agentId: string;
  readonly text: string;
  /** The same for every attempt; letters, digits, `-` and `_`. The server gets it as the message's `otid`. */
  readonly key: string;
  /** How long the agent may work, in milliseconds; without the time of people's decisions, and of waiting for its other runs. */
  readonly timeoutMs: number;
  readonly place: PromptPlace;
  /** Whether the agent is known to have written for this prompt since a time in milliseconds, which its server may not have stored. */
  readonly hasWritten?: (since: number) => Promise<boolean>;
}

/** A tool that the agent has called. */
export interface ToolUse {
  readonly callId: string;
  readonly name: string;
  /** `undefined` when no result was received. */
  readonly ok: boolean | undefined;
}

/** The events of an agent's work, as they occur. */
export type AgentEvent =
  | { readonly kind: 'reasoning'; readonly text: string | null }
  | { readonly kind: 'tool-call'; readonly callId: string; readonly name: string; readonly input: string }
  | {
      readonly kind: 'tool-return';
      readonly callId: string;
      readonly name: string;
      readonly ok: boolean;
      readonly text: string;
    }
  | { readonly kind: 'assistant'; readonly text: string }
  | { readonly kind: 'approval'; readonly callId: string; readonly name: string }
  | { readonly kind: 'ping' }
  | { readonly kind: 'usage'; readonly steps: number; readonly tokens: number }
  | { readonly kind: 'error'; readonly type: string; readonly message: string }
  | { readonly kind: 'stop'; readonly reason: string };

/** How a conversation with an agent has ended. */
export type Conversed = Answered | Unanswered;

export interface Answered {
  readonly status: 'done';
  /** The agent's texts outside of tool calls, in order. */
  readonly texts: readonly string[];
  readonly tools: readonly ToolUse[];
  readonly steps: number;
  readonly tokens: number;
  /** The server's stop reason: `end_turn`, `max_steps` … */
  readonly stopReason: string;
}

export interface Unanswered {
  readonly status: 'failed';
  /** Whether the same prompt may be tried again with the same key; never after the agent has acted. */
  readonly retry: boolean;
  /** The delay that the server requests. */
  readonly retryAfterMs?: number;
  /** The reason for people. */
  readonly sentence: string;
  /** The cause for the log. */
  readonly error: unknown;
  readonly tools: readonly ToolUse[];
}

/** A call that waits for a member's decision. */
export interface ApprovalRequest {
  readonly agentId: string;
  /** The key of the prompt; together with `callId` it identifies the request. */
  readonly key: string;
  readonly callId: string;
  readonly tool: string;
  /** The arguments as the model wrote them: JSON, unless the model made a mistake. */
  readonly input: string;
  readonly place: PromptPlace;
}

export interface ApprovalDecision {
  readonly approve: boolean;
  /** Is sent to the agent. */
  readonly reason?: string;
}

/** Requests a decision from people. An error counts as a denial. The signal aborts when the plugin stops; the next process then denies the request. */
export type AskApproval = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalDecision>;

/** The services that all prompts to agents of a server share. */
export interface PromptServices {
  readonly store: LettaStore;
  readonly ask: AskApproval;
  readonly clock: Clock;
  readonly log: Logger;
  readonly server: ServerFindings;
}

/** The state of one prompt, from the start of its turn at the agent until its outcome is known. */
export interface PromptContext extends PromptServices {
  readonly client: Letta;
  readonly prompt: Prompt;
  readonly deadline: Deadline;
  /** Aborts when the relay stops, or the agent may no longer act. */
  readonly stopped: AbortSignal;
  readonly tell: (event: AgentEvent) => void;
  record: SentPrompt;
  state: StreamState;
  /** People's decisions by call id: each is requested once, even if it has to be sent several times. */
  readonly decisions: Map<string, ApprovalDecision>;
  /**
   * When the prompt's run was last known to be alive, in milliseconds since the Unix epoch: when the server accepted the prompt or a decision, or the run made
   * progress.
   */
  aliveAt: number;
  /** Number of lost connections. */
  losses: number;
  /** Number of orphaned requests for approval that had to be denied. */
  orphans: number;
  /** The run that the agent is busy with, and its progress when it was first seen. Its id is '' if the server does not report it. */
  blocker: RunMark | undefined;
}

/** The next step of a prompt. */
export type Next =
  | { readonly do: 'send' }
  /** Continue to read the running run. */
  | { readonly do: 'reattach' }
  /** Read the server's records of the prompt. */
  | { readonly do: 'recover' }
  /** Request decisions for its calls; `asked` is false for requests whose process has ended. */
  | { readonly do: 'decide'; readonly asked: boolean }
  | { readonly do: 'end' }
  | { readonly do: 'fail'; readonly error: unknown }
  /** Fails permanently, because the agent has acted already. */
  | { readonly do: 'give-up'; readonly error: unknown; readonly sentence: string };

/** Whether the agent has acted, so that the prompt must not be sent again. */
export function hasActed({ state, record }: PromptContext): boolean {
  return record.acted || state.tools.size > 0;
}

/** Stores a change of the prompt's record, then applies it. */
export async function saveRecord(context: PromptContext, change: Partial<SentPrompt>): Promise<void> {
  context.record = await context.store.lettaSent.of(context.prompt.key).set({ ...context.record, ...change });
}

/** Gives the prompt another id at the server, when it is known that the previous one led to nothing: `key`, `key-2`, `key-3` … */
export async function renewOtid(context: PromptContext): Promise<void> {
  const { key } = context.prompt;
  const last = Number(context.record.otid.slice(key.length + 1)) || 1;
  await saveRecord(context, { otid: `${key}-${last + 1}`, at: context.clock.now() });
}

/** Limits how long an agent may work. */
interface Deadline {
  /** Aborts when the time is over, the relay stops, or the agent may no longer act. */
  readonly signal: AbortSignal;
  /** Why `signal` has aborted: `withdrawn` when the agent may no longer act. */
  readonly reason: 'timeout' | 'stopped' | 'withdrawn' | undefined;
  /** Runs `wait` without counting its time. */
  outside<T>(wait: () => Promise<T>): Promise<T>;
  end(): void;
}

export function createDeadline(clock: Clock, limitMs: number, outer: AbortSignal): Deadline {
  const controller = new AbortController();
  // Letta's client adds a listener for each request, and removes none.
  setMaxListeners(0, controller.signal);
  let reason: Deadline['reason'];
  let leftMs = limitMs;
  let since = clock.now();
  const abort = (why: 'timeout' | 'stopped' | 'withdrawn') => {
    reason ??= why;
    controller.abort();
  };
  const stopped = () => abort(outer.reason === SWITCHED_OFF ? 'withdrawn' : 'stopped');
  let cancel = clock.after(leftMs, () => abort('timeout'));
  outer.addEventListener('abort', stopped);
  if (outer.aborted) stopped();
  return {
    signal: controller.signal,
    get reason() {
      return reason;
    },
    async outside(wait) {
      cancel();
      leftMs -= clock.now() - since;
      try {
        return await wait();
      } finally {
        since = clock.now();
        cancel = clock.after(Math.max(0, leftMs), () => abort('timeout'));
      }
    },
    end() {
      cancel();
      outer.removeEventListener('abort', stopped);
    },
  };
}

const place = z.object({ guildId: z.string().nullable(), channelId: z.string(), userId: z.string().nullable() });
const tool = z.object({ callId: z.string(), name: z.string(), ok: z.boolean().optional() });

const done = z.object({
  status: z.literal('done'),
  texts: z.array(z.string()),
  tools: z.array(tool),
  steps: z.number(),
  tokens: z.number(),
  stopReason: z.string(),
});
const failed = z.object({ status: z.literal('failed'), sentence: z.string(), tools: z.array(tool) });

const sentSchema = z.object({
  agentId: z.string(),
  place,
  /** When it was first sent, in milliseconds since the Unix epoch. */
  at: z.number(),
  /** The id of the message at the server: the key, unless the server still associates it with a run that failed. */
  otid: z.string(),
  /** Whether the agent was seen calling a tool: then the prompt is never sent again. */
  acted: z.boolean().default(false),
  /** The final outcome, once there is one. */
  outcome: z.discriminatedUnion('status', [done, failed]).optional(),
});

/** The prompts sent to agents, by key. Stored before the request, so that a later attempt searches for the run first. */
const sent = {
  scope: 'global',
  version: 1,
  schema: sentSchema,
  // Only read by key; one process deletes old ones for all processes.
  shared: false,
  personal: {
    by: 'place.userId',
    /** Keeps the record, without the member and the agent's text. */
    forget(sent: z.output<typeof sentSchema>) {
      sent.place.userId = null;
      if (sent.outcome?.status === 'done') sent.outcome.texts = [];
    },
  },
} as const;

const askedSchema = z.object({
  agentId: z.string(),
  key: z.string(),
  callId: z.string(),
  tool: z.string(),
  input: z.string(),
  place,
  /** The guild of the place, whose host answers the request. */
  guildId: z.string().nullable().default(null),
  at: z.number(),
});

/** Open requests for approval by call id; stored before the question is posted. */
const asked = {
  scope: 'global',
  version: 1,
  schema: askedSchema,
  personal: {
    by: 'place.userId',
    /** Keeps the record, because an agent that waits for an approval needs an answer. */
    forget(asked: z.output<typeof askedSchema>) {
      asked.place.userId = null;
      asked.input = '{}';
    },
  },
} as const;

/** The collections of the Letta part of the relay: spread them into the plugin's collections. */
export const lettaCollections = { lettaSent: sent, lettaAsked: asked };

export type SentPrompt = z.output<typeof sentSchema>;
export type AskedApproval = z.output<typeof askedSchema>;
interface LettaStore {
  readonly lettaSent: Collection<SentPrompt, 'global'>;
  readonly lettaAsked: Collection<AskedApproval, 'global'>;
}

/** After this time, a prompt that is sent again counts as a new one. */
const KEPT_MS = 24 * 60 * 60_000;

const PRUNED_EVERY_MS = 60 * 60_000;

/** Deletes records of prompts that will not be sent again, at most once an hour. Never throws. */
export function createPruning({ lettaSent }: LettaStore, clock: Clock, log: Logger): () => Promise<void> {
  let prunedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = clock.now();
    if (now - prunedAt < PRUNED_EVERY_MS) return;
    prunedAt = now;
    try {
      for await (const [key, { at }] of lettaSent.entries()) if (at < now - KEPT_MS) await lettaSent.of(key).delete();
    } catch (error) {
      log.warn('sent prompts could not be pruned', { error });
    }
  };
}
