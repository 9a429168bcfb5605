import { CinnabarError, createKeyedMutex, type HostEnd, type TakeoverReason, z } from '@cinnabar/sdk';
import type { Connections, Row } from '../storage/drivers/postgres/connection.js';
import type { Lease } from './assignment.js';
import type { ClusterView, GroupLease, Member } from './balance.js';

/** How often leases are renewed. */
export const RENEW_MS = 2_000;
/** How long a lease lasts from its renewal, by the clock of the database. */
export const LASTS_MS = 6_000;
/** The holder treats a lease as expired this much earlier, since clocks differ. */
const MARGIN_MS = 500;
/** A member without a heartbeat for longer than this counts as gone. */
const ALIVE_MS = 8_000;
/** How long a group that was handed over is reserved for its requester. */
const RESERVED_MS = 3_000;
/** After losing the database for longer than this, a process does not take leases at once that only seem free: their holders had no database either. */
const ABSENCE_MS = 5_000;
/** After the database is back, such leases are left to their holders for this time, in which they renew them. */
const GRACE_MS = 3_000;

/** Takeovers are shown for a day, and kept for a week. */
const TAKEOVERS_KEPT = "interval '7 days'";

/** Why a process releases a group. */
export type ReleaseReason = Exclude<TakeoverReason, 'expired' | 'released'>;

/** Unknown reasons, of a later version, count as `released`. */
export const takeoverReason = z
  .enum(['expired', 'drained', 'rebalanced', 'unreachable', 'failed', 'released'])
  .catch('released');

/** The data that a member publishes about itself. */
export interface MemberState {
  readonly isDraining: boolean;
  readonly isConnected: boolean;
}

export interface LeaseOptions {
  readonly connections: Pick<Connections, 'query' | 'transaction'>;
  readonly schema: string;
  readonly member: { readonly id: string; readonly name: string; readonly version: string };
  readonly groups: number;
  /** Called when a group was taken from another process. */
  readonly onTakeover?: (reason: TakeoverReason) => void;
  /** Clocks that measure elapsed milliseconds; the largest measurement is used. */
  readonly elapsed?: () => readonly number[];
}

export type Leases = ReturnType<typeof createLeases>;

/**
 * A process's leases on groups, in a table that all processes of the cluster share. Times are those of the database. A process measures the remaining time of
 * its own leases itself, from the moment when it requested the renewal.
 */
export function createLeases({ connections, schema, member, groups, onTakeover, elapsed = ownClocks }: LeaseOptions) {
  const leases = `${schema}.leases`;
  const members = `${schema}.members`;
  const takeovers = `${schema}.takeovers`;
  const own = new Map<number, OwnLease>();
  // One statement at a time: a renewal never runs at the same time as a statement that takes or releases a lease.
  const mutex = createKeyedMutex();
  const inTurn = <T>(task: () => Promise<T>) => mutex.run('leases', task);
  const announce = `SELECT pg_notify('${newsOf(schema)}', '')`;
  let lastSaid = '';
  let lastBeat: readonly number[] | undefined;
  let returnedAt: readonly number[] | undefined;

  const followTokens = (rows: readonly GroupLease[], asked: readonly number[]) => {
    for (const [group, lease] of own) {
      const row = rows.find((one) => one.group === group);
      if (row?.token === lease.token && row.holder === member.id) lease.renew(asked);
      else {
        own.delete(group);
        lease.end('another process has it');
      }
    }
  };

  return {
    memberId: member.id,

    /** Sends the heartbeat, renews the leases of this process, and returns the state of the cluster. Leases that another process has taken are lost. */
    beat: ({ isDraining, isConnected }: MemberState): Promise<ClusterView> =>
      inTurn(async () => {
        const asked = elapsed();
        const view = await connections.transaction(async (query) => {
          await query(
            `INSERT INTO ${members} (id, name, version, draining, state) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (id) DO UPDATE SET seen_at = now(), draining = EXCLUDED.draining, state = EXCLUDED.state`,
            [member.id, member.name, member.version, isDraining, JSON.stringify({ isConnected, endsWhenAsked: true })],
          );
          const says = JSON.stringify({ isDraining, isConnected });
          if (says !== lastSaid) await query(announce);
          lastSaid = says;
          // Renews only leases that this process has in memory: when the answer to `take` was lost, the process does not serve the group.
          await query(
            `UPDATE ${leases} SET until = now() + $2 * interval '1 ms' FROM unnest($3::int[], $4::bigint[]) AS known (number, known_token)
             WHERE holder = $1 AND group_number = number AND token = known_token`,
            [member.id, LASTS_MS, [...own.keys()], [...own.values()].map(({ token }) => String(token))],
          );
          await query(`DELETE FROM ${members} WHERE seen_at < now() - interval '1 day'`);
          return readView(query, schema);
        });
        followTokens(view.leases, asked);
        if (lastBeat !== undefined && between(lastBeat, asked) > ABSENCE_MS) returnedAt = asked;
        lastBeat = asked;
        const justReturned = returnedAt !== undefined && between(returnedAt, asked) < GRACE_MS;
        return justReturned ? { ...view, leases: view.leases.map(keptForHolder) } : view;
      }),

    /** Takes a group that is free. @returns `undefined` when another process was faster */
    take: (group: number): Promise<Lease | undefined> =>
      inTurn(async () => {
        const asked = elapsed();
        const won = await connections.transaction(async (query) => {
          // Takes the strongest lock on the row: pending writes under the old token end first, and later ones see the new token.
          const [free] = await query(
            `SELECT holder, released_by, release_reason FROM ${leases} WHERE group_number = $1 AND until < now()
               AND (wanted_by IS NULL OR wanted_by = $2 OR until < now() - $3 * interval '1 ms') FOR UPDATE`,
            [group, member.id, RESERVED_MS],
          );
          if (free === undefined) return undefined;
          const [taken] = await query(
            `UPDATE ${leases} SET token = token + 1, holder = $2, until = now() + $3 * interval '1 ms', taken_at = now(), ready_at = NULL,
               wanted_by = NULL, released_by = NULL, release_reason = NULL WHERE group_number = $1 RETURNING token`,
            [group, member.id, LASTS_MS],
          );
          // The first lease of a group has no former holder.
          const reason = takeoverReason.parse(free.holder === null ? free.release_reason : 'expired');
          await query(
            `INSERT INTO ${takeovers} (group_number, token, given_by, taken_by, reason)
             SELECT $1, $2, coalesce((SELECT name FROM ${members} WHERE id = $3), $4), $5, $6 WHERE $2::bigint > 1`,
            [group, taken?.token, free.holder, free.released_by, member.name, reason],
          );
          await query(`DELETE FROM ${takeovers} WHERE at < now() - ${TAKEOVERS_KEPT}`);
          return taken === undefined ? undefined : { token: BigInt(String(taken.token)), reason };
        });
        if (won === undefined) return undefined;
        const { token, reason } = won;
        if (token > 1n) onTakeover?.(reason);
        const lease = createOwnLease(group, token, asked, elapsed);
        own.set(group, lease);
        return lease;
      }),

    /** Announces that a group is served. */
    ready: ({ group, token }: Lease) =>
      inTurn(async () => {
        await connections.query(`UPDATE ${leases} SET ready_at = now() WHERE group_number = $1 AND token = $2`, [
          group,
          String(token),
        ]);
        await connections.query(announce);
      }),

    /** Requests a group from its holder. */
    want: (group: number) =>
      inTurn(async () => {
        // Does not replace the request of another member that is alive.
        await connections.query(
          `UPDATE ${leases} SET wanted_by = $2 WHERE group_number = $1 AND holder IS NOT NULL AND holder <> $2 AND NOT EXISTS (
             SELECT FROM ${members} WHERE id = wanted_by AND seen_at > now() - $3 * interval '1 ms')`,
          [group, member.id, ALIVE_MS],
        );
        await connections.query(announce);
      }),

    /** Releases a group: the database refuses writes under its token from now on. */
    release: ({ group, token }: Lease, reason: ReleaseReason) =>
      inTurn(async () => {
        own.get(group)?.end('it was given back');
        own.delete(group);
        await connections.query(
          `UPDATE ${leases} SET token = token + 1, holder = NULL, until = now(), released_by = $3, release_reason = $4
           WHERE group_number = $1 AND token = $2`,
          [group, String(token), member.name, reason],
        );
        await connections.query(announce);
      }),

    /** Inserts the rows of all groups. */
    prepare: () =>
      inTurn(async () => {
        await connections.query(
          `INSERT INTO ${leases} (group_number) SELECT generate_series(0, $1 - 1) ON CONFLICT DO NOTHING`,
          [groups],
        );
      }),

    /** Ends the membership, so that the other members do not wait until the heartbeat of this process is too old. */
    leave: () =>
      inTurn(async () => {
        await connections.query(`DELETE FROM ${members} WHERE id = $1`, [member.id]);
        await connections.query(announce);
      }),
  };
}

/** The NOTIFY channel for changes of leases. */
export const newsOf = (schema: string): string => `${schema}_cluster`;

/**
 * Requests that a process gives its groups to the others, and takes none until it starts anew.
 * @param called the name of the process
 * @returns the number of running processes with this name
 */
export async function askToDrain(query: Connections['query'], schema: string, called: string): Promise<number> {
  const asked = await query(
    `UPDATE ${schema}.members SET drain_asked = true WHERE name = $1 AND seen_at > now() - $2 * interval '1 ms' RETURNING id`,
    [called, ALIVE_MS],
  );
  await query(`SELECT pg_notify('${newsOf(schema)}', '')`);
  return asked.length;
}

/** A request to end that was not fulfilled for this long is void: a process that starts later must not make the others end. */
const END_REQUEST_KEPT = "interval '15 minutes'";

/**
 * Requests that all running processes end: for a restart one after another, otherwise all at once. Leaves out processes of a version that ignores the request:
 * the others would wait for them.
 */
export async function askToEnd(query: Connections['query'], schema: string, how: HostEnd): Promise<void> {
  await query(
    `UPDATE ${schema}.members SET end_asked = $1, end_asked_at = now()
     WHERE seen_at > now() - $2 * interval '1 ms' AND state ->> 'endsWhenAsked' = 'true'`,
    [how, ALIVE_MS],
  );
  await query(`SELECT pg_notify('${newsOf(schema)}', '')`);
}

/** The state of the cluster. */
export async function readView(query: Connections['query'], schema: string): Promise<ClusterView> {
  const members = await query(
    `SELECT id, name, version, draining OR drain_asked AS draining, state, seen_at > now() - $1 * interval '1 ms' AS alive,
       extract(epoch FROM started_at) * 1000 AS started, CASE WHEN end_asked_at > now() - ${END_REQUEST_KEPT} THEN end_asked END AS end_asked
     FROM ${schema}.members ORDER BY id`,
    [ALIVE_MS],
  );
  const leases = await query(
    `SELECT group_number, token, holder, until < now() AS free,
       CASE WHEN until > now() THEN extract(epoch FROM until - now()) * 1000 ELSE 0 END AS ends_in, ready_at IS NOT NULL AS ready, wanted_by FROM ${schema}.leases ORDER BY taken_at, group_number`,
  );
  return { members: members.map(memberOf), leases: leases.map(leaseOf) };
}

function memberOf({ id, name, version, draining, state, alive, started, end_asked: endAsked }: Row): Member {
  const says = typeof state === 'object' && state !== null ? state : {};
  return {
    id: String(id),
    name: String(name),
    version: String(version),
    isAlive: alive === true,
    isDraining: draining === true,
    isConnected: !('isConnected' in says && says.isConnected === false),
    startedAt: Number(started),
    endsWhenAsked: 'endsWhenAsked' in says && says.endsWhenAsked === true,
    endAsked: endAsked === 'restart' || endAsked === 'shutdown' ? endAsked : undefined,
  };
}

function leaseOf({
  group_number: group,
  token,
  holder,
  free,
  ends_in: endsIn,
  ready,
  wanted_by: wantedBy,
}: Row): GroupLease {
  return {
    group: Number(group),
    token: BigInt(String(token)),
    holder: typeof holder === 'string' ? holder : undefined,
    isFree: free === true,
    endsInMs: Number(endsIn),
    isReady: ready === true,
    wantedBy: typeof wantedBy === 'string' ? wantedBy : undefined,
  };
}

/** The lease as not free, since its holder may also have lost the database, like this process. */
function keptForHolder(lease: GroupLease): GroupLease {
  return lease.holder === undefined ? lease : { ...lease, isFree: false };
}

interface OwnLease extends Lease {
  renew(asked: readonly number[]): void;
  end(why: string): void;
}

function createOwnLease(
  group: number,
  token: bigint,
  taken: readonly number[],
  elapsed: () => readonly number[],
): OwnLease {
  const ending = new AbortController();
  let renewed = taken;
  let waiting: (() => void)[] = [];
  const isHeld = () => !ending.signal.aborted && between(renewed, elapsed()) < LASTS_MS - MARGIN_MS;
  const wake = () => {
    const woken = waiting;
    waiting = [];
    for (const resolve of woken) resolve();
  };
  return {
    group,
    token,
    isHeld,
    lost: ending.signal,
    async held() {
      while (!isHeld()) {
        ending.signal.throwIfAborted();
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    renew(asked) {
      renewed = asked;
      wake();
    },
    end(why) {
      ending.abort(new CinnabarError('CINNABAR_LEASE_LOST', { group: String(group), detail: why }));
      wake();
    },
  };
}

/** The system clock can be set, and the monotonic clock stops while a machine sleeps. */
const ownClocks = (): readonly number[] => [performance.now(), Date.now()];

/** The longest time that any of the clocks measured, in ms. */
function between(from: readonly number[], to: readonly number[]): number {
  return Math.max(...to.map((reading, index) => reading - (from[index] ?? reading)));
}
