import type { HostEnd } from '@cinnabar/sdk';

/** A process of the cluster, as the others see it. */
export interface Member {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** It has sent a heartbeat recently. */
  readonly isAlive: boolean;
  /** Releases its groups and takes no others. */
  readonly isDraining: boolean;
  /** Whether its last heartbeat said that it reaches Discord. */
  readonly isConnected: boolean;
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  /** Whether its version obeys a request to end. */
  readonly endsWhenAsked: boolean;
  /** How it has to end, after a request of an owner; `undefined` without one. */
  readonly endAsked: HostEnd | undefined;
}

/** A group of servers, and the member that serves it. */
export interface GroupLease {
  readonly group: number;
  readonly token: bigint;
  /** `undefined` when the group is free. */
  readonly holder: string | undefined;
  /** Whether the lease has expired, so that another member may take it. */
  readonly isFree: boolean;
  /** Remaining time unless it is renewed; 0 when it has expired. */
  readonly endsInMs: number;
  /** Whether its holder has begun to serve it. */
  readonly isReady: boolean;
  /** The member that requested it and gets it next. */
  readonly wantedBy: string | undefined;
}

export interface ClusterView {
  readonly members: readonly Member[];
  readonly leases: readonly GroupLease[];
}

export interface Plan {
  /** Free groups to take now. */
  readonly take: readonly number[];
  /** Groups to request from their holders. */
  readonly want: readonly number[];
  /** Own groups that another member waits for, or that are released without a successor. */
  readonly handOver: readonly number[];
}

/** The part of a member's groups that may move to other members at the same time. */
const MOVED_AT_ONCE = 0.25;

/**
 * The next actions of a member, computed from state that all members share. It takes free groups up to an even share. A member below its share requests groups
 * one at a time, first from members that cannot serve theirs (draining, or without Discord while others reach it). A request never leads to a counter-request,
 * so nothing moves while the set of members stays the same. A holder releases further groups once the previous ones are served again.
 * @param moving how many groups this member has handed over that are not served yet
 */
export function planFor(self: string, { members, leases }: ClusterView, moving = 0): Plan {
  const staying = members.filter(({ isAlive, isDraining }) => isAlive && !isDraining);
  const connected = staying.filter(({ isConnected }) => isConnected);
  // When no member reaches Discord, moving groups does not help.
  const able = new Set((connected.length > 0 ? connected : staying).map(({ id }) => id));
  const heldBy = (id: string) => leases.filter(({ holder, isFree }) => holder === id && !isFree);
  const own = heldBy(self);
  const isUnclaimed = ({ wantedBy }: GroupLease) => wantedBy === undefined || !able.has(wantedBy);
  const isWantedByOther = ({ wantedBy }: GroupLease) =>
    wantedBy !== undefined && wantedBy !== self && able.has(wantedBy);
  // Hosts that start at the same time delay each other, but a member with many groups has to hand all of them over before its time to stop is over.
  const mayMove = Math.max(0, Math.ceil(own.length * MOVED_AT_ONCE) - moving);
  const wanted = own.filter(isWantedByOther).slice(0, mayMove).map(groupOf);

  if (!able.has(self)) {
    const isLeaving = members.some(({ id, isDraining }) => id === self && isDraining);
    // The remaining members request the groups, a few at a time; when no member remains, all groups are released at once.
    return { take: [], want: [], handOver: isLeaving && able.size === 0 ? own.map(groupOf) : wanted };
  }

  const most = Math.ceil(leases.length / able.size);
  const free = leases.filter(({ isFree }) => isFree);
  // A group that was handed over on request is reserved for its requester.
  const asked = free.filter(({ wantedBy }) => wantedBy === self);
  const others = free.filter((lease) => lease.wantedBy !== self && isUnclaimed(lease));
  const take = [...asked, ...others.slice(0, Math.max(0, most - own.length - asked.length))].map(groupOf);

  const coming = leases.filter(({ wantedBy, holder }) => wantedBy === self && holder !== self).length;
  const starting = own.filter(({ isReady }) => !isReady).length;
  // One at a time: a group is not served while it moves, and two groups that start at once both take longer.
  const capacity = Math.min(most - own.length - take.length, 1 - starting - take.length) - coming;
  const stranded = leases.filter(({ holder, isFree }) => holder !== undefined && !isFree && !able.has(holder));
  const want = stranded.filter(isUnclaimed).slice(0, Math.max(0, capacity));
  if (want.length === 0 && stranded.length === 0 && capacity > 0) {
    // Does not count groups that others have already requested.
    const staysWith = (id: string) => heldBy(id).filter(isUnclaimed);
    const [richest = []] = [...able].map(staysWith).sort((one, other) => other.length - one.length);
    // A group that is not ready has just moved, and is not moved again: its servers would wait twice.
    if (richest.length - (own.length + take.length + coming) >= 2)
      want.push(...richest.filter(({ isReady }) => isReady).slice(0, 1));
  }
  return { take, want: want.map(groupOf), handOver: wanted };
}

const groupOf = ({ group }: GroupLease) => group;

/**
 * How a member has to end now; `undefined`: not yet. A shutdown is due for all members at once. A restart is due for one member after another: for the next one
 * when all groups are served and at least as many processes run as before. When a process does not return, the others do not restart.
 * @param processes the number of processes when the restart was requested
 */
export function endDue(self: string, { members, leases }: ClusterView, processes: number): HostEnd | undefined {
  const alive = members.filter(({ isAlive }) => isAlive);
  const how = alive.find(({ id }) => id === self)?.endAsked;
  if (how !== 'restart') return how;
  const isFirst = alive.find(({ endAsked }) => endAsked === 'restart')?.id === self;
  const isServed = leases.every(({ holder, isFree, isReady }) => holder !== undefined && !isFree && isReady);
  return isFirst && isServed && alive.length >= processes ? how : undefined;
}
