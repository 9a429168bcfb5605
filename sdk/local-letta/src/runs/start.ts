import { ping, userMessage } from '../payload/chunks.js';
import type { Decision, LettaAgent, Thread } from '../state/agent.js';
import type { LettaRun, RunFailure } from '../state/run.js';
import { timestamp, type World } from '../state/world.js';
import { perform } from './perform.js';
import { emit, finish } from './stream.js';
import { tokensOf } from './text.js';

/** How a request wants its run. */
export interface RunOptions {
  readonly background: boolean;
  readonly pings: boolean;
  readonly maxSteps: number;
  readonly otids: readonly string[];
}

/** Lets the agent answer a message. */
export function startRun(
  world: World,
  agent: LettaAgent,
  thread: Thread,
  prompt: { readonly text: string; readonly otid: string | null },
  options: RunOptions,
): LettaRun {
  const run = createRun(world, agent, thread, options, prompt.text);
  run.usage.promptTokens = tokensOf(prompt.text);
  perform({ world, agent, thread, prompt }, run, [userMessage(world, run, prompt.text, prompt.otid)]);
  return run;
}

/** Lets the agent go on after its requests for approval have been answered. */
export function resumeRun(
  world: World,
  agent: LettaAgent,
  thread: Thread,
  decisions: readonly Decision[],
  options: RunOptions,
): LettaRun {
  const run = createRun(world, agent, thread, options, null);
  const { pending } = thread;
  thread.pending = undefined;
  thread.decided = (pending?.calls ?? []).map(({ tool_call_id }) => tool_call_id);
  pending?.resume(run.id, decisions);
  return run;
}

/** A run that ends with an error before it has begun. */
export function refusedRun(
  world: World,
  agent: LettaAgent,
  thread: Thread,
  options: RunOptions,
  failure: RunFailure,
): LettaRun {
  const run = createRun(world, agent, thread, options, null);
  finish(world, run, 'error', failure);
  return run;
}

/** A run that is under way. */
export function createRun(
  world: World,
  agent: LettaAgent,
  thread: Thread,
  options: RunOptions,
  prompt: string | null,
): LettaRun {
  const run: LettaRun = {
    id: world.id('run'),
    agentId: agent.id,
    conversationId: thread.conversationId,
    background: options.background,
    maxSteps: options.maxSteps,
    prompt,
    otids: options.otids,
    createdAt: timestamp(world),
    status: 'running',
    stopReason: null,
    completedAt: null,
    usage: { steps: 0, promptTokens: 0, completionTokens: 0 },
    frames: [],
    said: [],
    error: undefined,
    over: false,
    dead: false,
    stopped: new AbortController(),
    listeners: new Set(),
  };
  world.runs.set(run.id, run);
  world.active.add(run);
  if (options.pings) emit(run, ping(world, run));
  for (const watch of [...world.watchers]) watch();
  return run;
}
