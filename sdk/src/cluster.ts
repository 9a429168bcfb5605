import { defineToken } from './token.js';

/** A process of a cluster that was heard of a few seconds ago. */
export interface ClusterProcess {
  readonly name: string;
  readonly version: string;
  /** Gives its groups to the others, and takes none. */
  readonly isDraining: boolean;
  /** Whether it reaches Discord, as far as it knows. */
  readonly isConnected: boolean;
  /** The groups that it holds. */
  readonly groups: readonly number[];
}

/** A group of servers. */
export interface ClusterGroup {
  readonly group: number;
  /** Name of the process that holds it; `undefined` while nobody does. */
  readonly holder: string | undefined;
  /** Whether its holder has begun to serve it. */
  readonly isServed: boolean;
  /** When its holder took it, in milliseconds since 1970. */
  readonly since: number | undefined;
  /** How long ago its lease was renewed: usually less than 2 seconds. */
  readonly renewedMsAgo: number | undefined;
  /** Commands that were begun and are not finished. */
  readonly underWay: number;
}

/**
 * Why a group went to another process. `expired`: its holder did not renew the lease, since it died or was cut off from the database. `drained`: its holder
 * stops, or was asked to drain. `rebalanced`: another one had less than its share. `unreachable`: its holder did not reach Discord. `failed`: its
 * holder could not start it. `released`: not known, by an earlier version.
 */
export type TakeoverReason = 'expired' | 'drained' | 'rebalanced' | 'unreachable' | 'failed' | 'released';

export interface Takeover {
  readonly group: number;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** `undefined` where nobody knows its name any more. */
  readonly from: string | undefined;
  readonly to: string;
  readonly reason: TakeoverReason;
}

export interface ClusterStatus {
  readonly processes: readonly ClusterProcess[];
  readonly groups: readonly ClusterGroup[];
  /** Those of the last day, the latest first, 10 at most. */
  readonly takeovers: readonly Takeover[];
}

export interface Cluster {
  /** @returns `undefined` for a bot that is one process; @throws when the database cannot be asked */
  status(): Promise<ClusterStatus | undefined>;
}
export const Cluster = defineToken<Cluster>('cinnabar.cluster');
