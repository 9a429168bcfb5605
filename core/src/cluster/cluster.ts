import { type CinnabarError, type Clock, type HostEnd, type Logger, withinLimit } from '@cinnabar/sdk';
import { createPartition, type Partition } from '../gateway/partition.js';
import type { Lease } from './assignment.js';
import { type ClusterView, endDue, planFor } from './balance.js';
import { LASTS_MS, type Leases, RENEW_MS, type ReleaseReason } from './leases.js';

/** The bot of one group. */
export interface GroupHost {
  /** Resolves when the group is served. @throws the reason why it cannot start */
  start(): Promise<unknown>;
  /** Never rejects. */
  stop(): Promise<unknown>;
  /** The time since when it has been disconnected from Discord; `undefined` while it is connected. */
  readonly notConnectedSince: number | undefined;
  /** Resolves when Discord has closed the connection for a permanent reason. */
  readonly ended: Promise<CinnabarError>;
}

export interface ClusterOptions {
  readonly leases: Leases;
  readonly groups: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly open: (partition: Partition, lease: Lease) => GroupHost;
  /** Whether this process can reach Discord; called while it serves no group because it could not. */
  readonly reachesDiscord: () => Promise<boolean>;
  /** Calls the listener when another process has changed a lease. @returns a function that stops this */
  readonly onNews: (listener: () => void) => () => void;
  /** Called when an owner has asked the cluster to end, and it is this process's turn; again until `stop`. */
  readonly onEndDue: (how: HostEnd) => void;
}

export type Cluster = ReturnType<typeof createCluster>;

/** The state of one group that this process has a lease on. */
interface Seat {
  readonly lease: Lease;
  readonly host: GroupHost;
  state: 'starting' | 'serving' | 'leaving';
}

/** Maximum number of hosts that start at the same time: starting all together would delay every group. */
const STARTING_AT_ONCE = 2;
/** Time after its expiry when a lease is certainly free. */
const AFTER_END_MS = 20;
/** After a failed start, a group is released, and not taken again by this process for this time. */
const AFTER_FAILURE_MS = 15_000;
/** Without Discord for longer than this, groups move to a process that reaches it; resuming takes a few seconds. */
const AWAY_MS = 12_000;
/** A process that could not reach Discord takes no groups for at least this time. */
const DISTRUSTED_MS = 30_000;
/** Service managers wait some 30 s before they kill a process. */
const DRAIN_MS = 22_000;

/** Why this process stops to serve a group, for the log. */
const LEAVING: Readonly<Record<ReleaseReason | 'lost', string>> = {
  lost: 'another process has it',
  rebalanced: 'another process is to have it',
  unreachable: 'this process does not reach Discord',
  drained: 'this process ends or drains',
  failed: 'it could not be started',
};

/**
 * Serves groups of servers beside other processes: takes free groups, requests its share, releases groups that other members request, and stops those whose lease
 * it has lost.
 */
export function createCluster({ leases, groups, clock, log, open, reachesDiscord, onNews, onEndDue }: ClusterOptions) {
  const seats = new Map<number, Seat>();
  const waitUntil = new Map<number, number>();
  const handedOverAt = new Map<number, number>();
  let distrustedUntil: number | undefined;
  let isDraining = false;
  let isClosed = false;
  let view: ClusterView = { members: [], leases: [] };
  /** The number of processes when a restart of all was requested; `undefined` without a request. */
  let restartingOf: number | undefined;
  let cancelTimer: () => void = () => undefined;
  let running: Promise<void> | undefined;
  let isDue = false;
  let lookInMs = RENEW_MS;
  const waiting = new Set<() => void>();
  let fail: (error: CinnabarError) => void = () => undefined;
  const ended = new Promise<CinnabarError>((resolve) => {
    fail = resolve;
  });

  /** Starts a round. One round runs at a time: a call during a round causes one more. */
  const soon = () => {
    isDue = true;
    running ??= (async () => {
      while (isDue && !isClosed) {
        isDue = false;
        cancelTimer();
        await round();
        cancelTimer = clock.after(lookInMs, soon);
      }
    })().finally(() => {
      running = undefined;
    });
  };

  /** Time until the next round: the interval of renewals, or less when a lease of another process expires before, so that its group is taken at once. */
  const untilNextEnd = (): number => {
    const ends = view.leases.flatMap(({ endsInMs, holder }) =>
      endsInMs > 0 && holder !== leases.memberId ? [endsInMs + AFTER_END_MS] : [],
    );
    return Math.min(RENEW_MS, ...ends);
  };

  const round = async () => {
    try {
      view = await leases.beat({ isDraining, isConnected: await isConnected() });
      lookInMs = untilNextEnd();
    } catch (error) {
      lookInMs = RENEW_MS;
      log.warn('leases could not be renewed', { error });
    }
    for (const [group, seat] of seats) if (seat.lease.lost.aborted) leave(group, seat, 'lost');
    // Repeats announcements that failed because the database was unreachable.
    await attempt('saying what is served', async () => {
      for (const { group, token, isReady } of view.leases) {
        const seat = seats.get(group);
        if (!isReady && seat?.state === 'serving' && seat.lease.token === token) await leases.ready(seat.lease);
      }
    });
    const plan = planFor(leases.memberId, view, moving());
    for (const group of plan.handOver) {
      const seat = seats.get(group);
      // A group that is still starting is handed over once it is served: until then its servers would wait twice.
      if (seat?.state !== 'serving') continue;
      handedOverAt.set(group, clock.now());
      leave(group, seat, handOverReason());
    }
    await attempt('asking for groups', async () => {
      for (const group of plan.want) await leases.want(group);
    });
    await attempt('taking groups', async () => {
      for (const group of plan.take) {
        const starting = [...seats.values()].filter(({ state }) => state === 'starting').length;
        if (starting >= STARTING_AT_ONCE) break;
        if (!seats.has(group) && (waitUntil.get(group) ?? 0) <= clock.now()) await take(group);
      }
    });
    endInTurn();
    for (const check of waiting) check();
  };

  const endInTurn = () => {
    const alive = view.members.filter(({ isAlive }) => isAlive);
    if (alive.find(({ id }) => id === leases.memberId)?.endAsked === undefined) restartingOf = undefined;
    else restartingOf ??= alive.length;
    const how = endDue(leases.memberId, view, restartingOf ?? 0);
    if (how !== undefined && !isDraining) onEndDue(how);
  };

  /**
   * How many groups this process has handed over whose successors do not serve them yet. A successor that takes longer than a lease lasts is no longer counted.
   */
  const moving = (): number => {
    for (const [group, at] of handedOverAt) {
      const lease = view.leases.find((one) => one.group === group);
      const isServed = lease?.isReady === true && lease.holder !== undefined && lease.holder !== leases.memberId;
      if (isServed || clock.now() - at > LASTS_MS) handedOverAt.delete(group);
    }
    return handedOverAt.size;
  };

  const attempt = async (what: string, task: () => Promise<void>) => {
    try {
      await task();
    } catch (error) {
      log.warn(`${what} failed`, { error });
    }
  };

  const take = async (group: number) => {
    const lease = await leases.take(group);
    if (lease === undefined) return;
    const seat: Seat = { lease, host: open(createPartition(group, groups), lease), state: 'starting' };
    seats.set(group, seat);
    handedOverAt.delete(group);
    lease.lost.addEventListener('abort', soon, { once: true });
    log.info(`group ${group}: taken`, { term: String(lease.token) });
    void serve(group, seat);
  };

  const serve = async (group: number, seat: Seat) => {
    const since = clock.now();
    try {
      await seat.host.start();
      if (seat.state !== 'starting') return;
      seat.state = 'serving';
      log.info(`group ${group}: served`, { ms: clock.now() - since });
      void seat.host.ended.then((error) => {
        if (seat.state === 'serving') fail(error);
      });
      await leases.ready(seat.lease);
    } catch (error) {
      if (seat.state !== 'starting') return;
      log.error(`group ${group}: could not be served`, { error });
      waitUntil.set(group, clock.now() + AFTER_FAILURE_MS);
      leave(group, seat, 'failed');
    }
    soon();
  };

  const handOverReason = (): ReleaseReason => {
    const self = view.members.find(({ id }) => id === leases.memberId);
    if (isDraining || self?.isDraining === true) return 'drained';
    return self?.isConnected === false ? 'unreachable' : 'rebalanced';
  };

  const leave = (group: number, seat: Seat, why: ReleaseReason | 'lost') => {
    if (seat.state === 'leaving') return;
    seat.state = 'leaving';
    log.info(`group ${group}: leaving: ${LEAVING[why]}`);
    void (async () => {
      await seat.host.stop();
      // The lease is held until the stop is complete, so that the next holder starts after the last write.
      if (why !== 'lost' && !seat.lease.lost.aborted)
        await attempt(`giving group ${group} back`, () => leases.release(seat.lease, why));
      seats.delete(group);
      soon();
    })();
  };

  const isConnected = async (): Promise<boolean> => {
    const now = clock.now();
    const isCutOff = [...seats.values()].some(
      ({ state, host }) => state === 'serving' && now - (host.notConnectedSince ?? now) > AWAY_MS,
    );
    if (isCutOff) distrustedUntil = now + DISTRUSTED_MS;
    if (distrustedUntil === undefined) return true;
    if (now < distrustedUntil || isCutOff || !(await reachesDiscord())) return false;
    distrustedUntil = undefined;
    return true;
  };

  const until = (isSo: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!isSo()) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });

  const disposeNews = onNews(soon);

  return {
    /** Resolves with an error that ends this process: Discord refuses the bot. */
    ended,
    /** Groups that this process serves or is about to. */
    get groups(): readonly number[] {
      return [...seats.keys()].sort((one, other) => one - other);
    },
    get view(): ClusterView {
      return view;
    },
    /** Joins the cluster, and resolves when a first share of the groups is served; at once when no group is available. */
    async start(): Promise<void> {
      await leases.prepare();
      soon();
      await running;
      await until(() => [...seats.values()].every(({ state }) => state !== 'starting'));
    },
    /** Hands all groups over, one after another, then leaves the cluster. Stops a group, too, that no member takes in time. */
    async stop(): Promise<void> {
      isDraining = true;
      soon();
      await withinLimit(
        clock,
        DRAIN_MS,
        until(() => seats.size === 0),
      );
      for (const [group, seat] of seats) leave(group, seat, 'drained');
      await until(() => seats.size === 0);
      isClosed = true;
      cancelTimer();
      disposeNews();
      await running;
      await attempt('leaving the cluster', leases.leave);
    },
  };
}
