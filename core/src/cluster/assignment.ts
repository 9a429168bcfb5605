import type { Cluster, Monitoring, z } from '@cinnabar/sdk';
import type { Partition } from '../gateway/partition.js';
import type { OpenChannel } from './channel.js';
import type { SharedClaims } from './claims.js';
import type { SharedLimits } from './limits.js';
import type { SessionStore } from './sessions.js';

/**
 * The right to serve a group for a short time, which is renewed. Its token is greater than that of every earlier holder; the database refuses
 * writes under an older one.
 */
export interface Lease {
  readonly group: number;
  readonly token: bigint;
  /**
   * Whether the lease is still valid. While it is `false`, this process must dispatch no event, send no request and make no write for the group's
   * servers. It becomes `true` again if the lease is renewed before another process takes it.
   */
  isHeld(): boolean;
  /** Resolves when it is held: at once, or after a renewal. Rejects with the reason of `lost`. */
  held(): Promise<void>;
  /** Aborts, for good, when another process has taken the lease, or when this process has released it. */
  readonly lost: AbortSignal;
}

/** The parameters that the process passes to each host of a cluster. */
export interface Assignment {
  readonly partition: Partition;
  readonly shardCount: number;
  readonly lease: Lease;
  readonly sessions: SessionStore;
  readonly limits: SharedLimits;
  readonly claims: SharedClaims;
  readonly channel: OpenChannel;
  readonly status: Cluster['status'];
  /** The process's name, and whether its last run did not stop cleanly: `takeCrash` returns `true` once. */
  readonly member: { readonly name: string; takeCrash(): boolean };
  /** Monitoring of the whole process. */
  readonly monitoring: Monitoring;
}

/** Sends requests to hosts of other groups, wherever they run. */
export interface ClusterChannel {
  /**
   * Sends a request to the host that serves a group. The request is executed at most once.
   * @throws CINNABAR_CLUSTER_NO_ANSWER when a host has begun the request and no answer comes by the deadline: its effect is unknown then;
   * CINNABAR_CLUSTER_NOT_SERVED when no host has begun it, and none will; the handler's error when it is a UserError or a CinnabarError
   */
  ask<B, T>(group: number, kind: RequestKind<B, T>, body: B, options: AskOptions): Promise<T>;
  /** Sends a request to all groups, including this one. */
  askAll<B, T>(kind: RequestKind<B, T>, body: B, options: AskOptions): Promise<readonly GroupAnswer<T>[]>;
  /** Answers requests of a kind to this host's group. @returns a function that stops answering */
  answer<B, T>(kind: RequestKind<B, T>, handle: RequestHandler<B, T>): () => void;
}

/**
 * @param signal aborts when the host ends
 * @param report sends progress to the requester, as JSON; reports that come faster than they can be sent, or are longer than a few thousand characters, are dropped
 */
export type RequestHandler<B, T> = (body: B, signal: AbortSignal, report: (sign: unknown) => void) => Promise<T>;

/** A kind of request, with the schemas of its question and its answer, as JSON. Both sides check, since processes may run different versions. */
export interface RequestKind<B, T> {
  readonly name: string;
  readonly body: z.ZodType<B>;
  readonly answer: z.ZodType<T>;
}

export interface AskOptions {
  readonly deadlineMs: number;
  /** Deadline by which a host must begin the request; `deadlineMs` unless given. */
  readonly begunMs?: number;
  readonly signal?: AbortSignal;
  /** Called with the progress reports of the handler, unchecked. */
  readonly onReport?: (sign: unknown) => void;
}

export type GroupAnswer<T> =
  | { readonly group: number; readonly ok: true; readonly answer: T }
  | { readonly group: number; readonly ok: false; readonly error: Error };
