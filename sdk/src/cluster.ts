import type { z } from 'zod';
import { t } from './text/language.js';
import { defineToken } from './token.js';

/** A process of a cluster with a recent heartbeat. */
export interface ClusterProcess {
  readonly name: string;
  readonly version: string;
  /** Whether it gives its groups to other processes and takes no new ones. */
  readonly isDraining: boolean;
  /** Whether it is connected to Discord, by its own report. */
  readonly isConnected: boolean;
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  /** Whether it restarts or stops together with all others. A process of an earlier version does not. */
  readonly endsWhenAsked: boolean;
  /** The groups that it holds. */
  readonly groups: readonly number[];
}

/** A group of servers. */
export interface ClusterGroup {
  readonly group: number;
  /** Name of the process that holds it; `undefined` while no process does. */
  readonly holder: string | undefined;
  /** Whether its holder has begun to serve it. */
  readonly isServed: boolean;
  /** When its holder took it, in milliseconds since 1970. */
  readonly since: number | undefined;
  /** How long ago its lease was renewed: usually less than 2 seconds. */
  readonly renewedMsAgo: number | undefined;
  /** Number of commands that were begun and are not finished. */
  readonly inFlight: number;
}

/**
 * Why a group went to another process. `expired`: its holder did not renew the lease, since it died or was cut off from the database. `drained`: its holder
 * stops, or was asked to drain. `rebalanced`: another one had less than its share. `unreachable`: its holder did not reach Discord. `failed`: its
 * holder could not start it. `released`: not known, by an earlier version.
 */
export type TakeoverReason = 'expired' | 'drained' | 'rebalanced' | 'unreachable' | 'failed' | 'released';

/** A group that went from one process to another. */
export interface Takeover {
  readonly group: number;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** `undefined` when its name is not known any more. */
  readonly from: string | undefined;
  readonly to: string;
  readonly reason: TakeoverReason;
}

/** The processes and groups of a cluster at one moment. */
export interface ClusterStatus {
  readonly processes: readonly ClusterProcess[];
  readonly groups: readonly ClusterGroup[];
  /** Takeovers of the last day, latest first, 10 at most. */
  readonly takeovers: readonly Takeover[];
}

/** The cluster of the bot, for status commands. Provided by the host. */
export interface Cluster {
  /** @returns `undefined` for a bot that is one process. @throws when the database does not answer */
  status(): Promise<ClusterStatus | undefined>;
}
export const Cluster = defineToken<Cluster>('cinnabar.cluster');

/** A query that a plugin sends to all processes that serve the bot. With one process, it is answered locally. */
export interface QuestionDefinition<B, T> {
  /** Unique within the plugin: lower case letters, digits and `-`. */
  readonly name: string;
  /** Both are checked when they come from another process, which may run another version. */
  readonly input: z.ZodType<B>;
  readonly answer: z.ZodType<T>;
  /** Deadline for the answers of other processes, in milliseconds. @default 10,000 */
  readonly deadlineMs?: number;
  /** Answers for the servers that this process has in `client.guilds`. Its effects happen at most once. @param signal aborts when the plugin stops */
  run(input: B, signal: AbortSignal): T | Promise<T>;
}

/** A registered question, as `context.question` returns it. */
export interface Question<B, T> {
  /** Asks all processes. @throws the errors of this process's `run`; other processes that do not answer are counted */
  everywhere(input: B): Promise<Answers<T>>;
  /**
   * Asks each process once, however many parts of the bot it serves: about memory, files or the network of its machine.
   * @throws the errors of this process's `run`; other processes that do not answer are named
   */
  eachProcess(input: B): Promise<ProcessAnswers<T>>;
  /**
   * Asks the process that serves a server; `null`: the one that handles everything without a server.
   * @throws what `run` throws, if it is a UserError or a CinnabarError; CINNABAR_CLUSTER_NO_ANSWER after the deadline: then it may have been done, or not;
   *   CINNABAR_CLUSTER_NOT_SERVED when no process has begun it by then
   */
  of(guildId: string | null, input: B): Promise<T>;
}

/** The answers of the processes, with their names. */
export interface ProcessAnswers<T> {
  /** This process's answer is the first. The name is that of `!cluster`; `undefined` for a bot that is one process. */
  readonly answers: readonly { readonly process: string | undefined; readonly answer: T }[];
  /** Names of the processes that have not answered in time, without those that serve no servers. */
  readonly missing: readonly string[];
}

/** The answers of all parts of the bot. */
export interface Answers<T> {
  /** The first answer is that of this process. */
  readonly answers: readonly T[];
  /** Parts of the bot that have not answered in time. */
  readonly missing: number;
}

/** The note below an incomplete list; empty when nothing is missing. */
export function missingSentences({ missing }: Pick<Answers<unknown>, 'missing'>): readonly string[] {
  return missing === 0 ? [] : [t('A process of this bot does not answer at the moment, so this is not everything.')];
}
