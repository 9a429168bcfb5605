import type { Clock, FairBounds, Logger, Random } from '@cinnabar/sdk';
import type { Breakers } from '../resilience/breakers.js';
import type { Batch, Delivering, QueueRules, RelayEvent } from '../types.js';
import type { Stall } from './dispatcher.js';
import type { Drop } from './drops.js';
import type { QueueStore } from './journal.js';
import type { QueueRecord } from './record.js';

/** Events that an agent was not told of, or not to the end, and will not be any more. */
export interface Failure {
  readonly events: Batch;
  /** What to tell the members. */
  readonly sentence: string;
  /** For the log. */
  readonly error: unknown;
  /** Whether the agent has posted something all the same: then members need not be told. */
  readonly posted: boolean;
}

export interface RelayQueueOptions {
  readonly store: QueueStore;
  readonly rulesFor: (guildId: string | null, channelId: string) => Promise<QueueRules>;
  /**
   * What names the event's agent in the whole world: its server and its id there, as the settings are at this moment. Guilds that share
   * an agent share its breaker.
   */
  readonly agentFor: (event: RelayEvent) => Promise<string>;
  readonly delivering: Delivering;
  readonly breakers: Breakers;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** How many channels are served side by side; asked each time. */
  readonly bound: () => FairBounds;
  /** How many events an agent is told of together. */
  readonly mostTogether?: number;
  /** How long events wait for an agent whose breaker is open, before they fail. */
  readonly patienceMs?: number;
  /** The queue stood still for a channel, and was put right. */
  readonly onStall?: (stall: Stall) => unknown;
  /** How often at most a guild's drops are told of. */
  readonly dropsEveryMs?: number;
  readonly onDropped: (drop: Drop) => unknown;
  /** Called before the failure is written down: of one that a crash interrupts, it is called again. */
  readonly onFailed: (failure: Failure) => unknown;
}

/** Changes what the queue holds. It counts at once; nothing may follow from it before it is on the disk, when this resolves. */
export type Write = (record: QueueRecord) => Promise<void>;
