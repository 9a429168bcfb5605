import type { Clock } from '@cinnabar/sdk';
import { type AddedAgent, addAgent, type LettaAgentInit } from './agents.js';
import type { LettaFaults } from './faults.js';
import type { LettaRequestRecord } from './http/request.js';
import { serve } from './http/server.js';
import { type LettaRunView, viewRun } from './run-view.js';
import type { AgentScript } from './script.js';
import { createWorld, type World } from './state.js';

export interface LettaStandInOptions {
  /** When set, requests with another key or none get 401. */
  readonly key?: string;
  /** Controls `latencyMs`, `turn.wait` and all displayed times. Default: real time. */
  readonly clock?: Clock;
  /** The script of agents without their own; by default they reply that they have read the message. */
  readonly script?: AgentScript;
  /** Delay before each agent begins to answer. */
  readonly latencyMs?: number;
  /** `false`: no background runs (503), as on a self-hosted server without Redis. */
  readonly background?: boolean;
  /** `false`: no routes for conversations (404), as on older servers: repeated messages are not recognised, and busy agents are not reported. */
  readonly conversations?: boolean;
  /** How a message is refused while an approval is pending: with an error in the stream (the default), or with 409. */
  readonly conflict?: 'refused' | 'streamed';
  /** The version that the server reports; default: `0.16.8`. */
  readonly version?: string;
}

/** A Letta server on loopback with scripted agents. */
export interface LettaStandIn extends AsyncDisposable {
  /** The base URL for clients. */
  readonly baseUrl: string;
  /** Creates an agent without an HTTP request. */
  addAgent(init?: LettaAgentInit): AddedAgent;
  /** Every request, oldest first. */
  readonly requests: readonly LettaRequestRecord[];
  /** All runs, oldest first, in their current state. */
  readonly runs: readonly LettaRunView[];
  /** The highest number of simultaneous runs so far. */
  readonly mostAtOnce: number;
  readonly faults: LettaFaults;
  /** Resolves when the `count`-th run (from 1) has begun. */
  started(count: number): Promise<LettaRunView>;
  /** Resolves when no run is running; a run that waits for an approval does not count. */
  idle(): Promise<void>;
  /** Resolves as soon as that number of scripts hangs; default: one. */
  hanging(count?: number): Promise<void>;
  /** Resumes hanging scripts. */
  release(): void;
  /** Kills the server and starts it again: connections are cut, and running runs keep the status `running` for ever. */
  crash(): void;
}

/**
 * Starts the server on a free port of the loopback interface.
 * @example
 * await using letta = await startLettaStandIn({
 *   script: async (turn) => {
 *     await turn.callTool('discord_send', { channelId: '1', message: 'Hello!' });
 *   },
 * });
 * const client = new Letta({ baseURL: letta.baseUrl, apiKey: 'any' });
 */
export async function startLettaStandIn(options: LettaStandInOptions = {}): Promise<LettaStandIn> {
  const world = createWorld({
    clock: options.clock ?? systemClock,
    script: options.script,
    latencyMs: options.latencyMs ?? 0,
    background: options.background ?? true,
    conversations: options.conversations ?? true,
    conflict: options.conflict ?? 'streamed',
    version: options.version ?? '0.16.8',
  });
  const http = await serve(world, options.key);
  let mostAtOnce = 0;
  world.watchers.add(() => {
    mostAtOnce = Math.max(mostAtOnce, world.active.size);
  });
  return {
    baseUrl: http.baseUrl,
    requests: http.requests,
    faults: http.faults,
    addAgent: (init = {}) => addAgent(world, init),
    get runs() {
      return [...world.runs.values()].map(viewRun);
    },
    get mostAtOnce() {
      return mostAtOnce;
    },
    started: (count) => started(world, count),
    idle: () => idle(world),
    hanging: world.standing.hanging,
    release: world.standing.release,
    crash: () => crash(world),
    async [Symbol.asyncDispose]() {
      world.closing.abort();
      for (const run of world.active) run.stopped.abort();
      await http.close();
    },
  };
}

/** The computer's own clock. */
const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Resolves with the `count`-th run as soon as it has begun. */
function started(world: World, count: number): Promise<LettaRunView> {
  return when(world, () => {
    const run = [...world.runs.values()][count - 1];
    return run === undefined ? undefined : viewRun(run);
  });
}

/** Resolves when no run is running. */
async function idle(world: World): Promise<void> {
  await when(world, () => (world.active.size === 0 ? true : undefined));
}

function when<T>(world: World, look: () => T | undefined): Promise<T> {
  return new Promise((resolve) => {
    const check = () => {
      const found = look();
      if (found === undefined) return;
      world.watchers.delete(check);
      resolve(found);
    };
    world.watchers.add(check);
    check();
  });
}

/** The state after a kill: runs without a process, whose status in the database never changes. Stored messages stay. */
function crash(world: World): void {
  for (const run of [...world.active]) {
    run.dead = true;
    world.active.delete(run);
    for (const tell of [...run.listeners]) tell('cut');
    run.stopped.abort();
  }
  for (const watch of [...world.watchers]) watch();
}
