import type { Clock } from '@cinnabar/sdk';
import { createStanding, type Standing } from '../runs/pause.js';
import type { AgentScript } from '../script.js';
import type { LettaAgent } from './agent.js';
import { createIds, type IdPrefix } from './ids.js';
import type { McpServer } from './mcp-server.js';
import type { LettaRun } from './run.js';
import type { StandInTool } from './tool.js';

/** Everything that the server knows. */
export interface World {
  readonly clock: Clock;
  readonly id: (prefix: IdPrefix) => string;
  readonly agents: Map<string, LettaAgent>;
  readonly runs: Map<string, LettaRun>;
  readonly tools: Map<string, StandInTool>;
  readonly servers: Map<string, McpServer>;
  /** What agents without a script of their own do. */
  readonly script: AgentScript | undefined;
  /** What a model would take before it begins to answer. */
  readonly latencyMs: number;
  /** Without it there are no background runs, as with a self-hosted server that has no Redis. */
  readonly background: boolean;
  /** Whether there are routes for conversations, of which `default` is the agent's own: older servers have none. */
  readonly conversations: boolean;
  /** Whether a message is told of an approval that waits in the stream, as servers of one's own do, or by 409. */
  readonly conflict: 'refused' | 'streamed';
  readonly version: string;
  /** Runs that are not over, those that were cancelled included. */
  readonly active: Set<LettaRun>;
  /** Scripts that hang. */
  readonly standing: Standing;
  /** Called whenever a run begins or ends. */
  readonly watchers: Set<() => void>;
  /** Ends calls of tools when the server closes. */
  readonly closing: AbortController;
}

export type WorldOptions = Pick<
  World,
  'clock' | 'script' | 'latencyMs' | 'background' | 'conversations' | 'conflict' | 'version'
>;

export function createWorld(options: WorldOptions): World {
  return {
    ...options,
    id: createIds(),
    agents: new Map(),
    runs: new Map(),
    tools: new Map(),
    servers: new Map(),
    active: new Set(),
    standing: createStanding(),
    watchers: new Set(),
    closing: new AbortController(),
  };
}

/** ISO 8601, as the server writes times. */
export function timestamp(world: World): string {
  return new Date(world.clock.now()).toISOString();
}
