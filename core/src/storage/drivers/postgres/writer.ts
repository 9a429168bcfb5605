import { CinnabarError, type Clock, withinLimit } from '@cinnabar/sdk';
import type { Lease } from '../../../cluster/assignment.js';
import { type Connections, DatabaseError } from './connection.js';

/** The lease on which writes depend in a cluster. */
export type WriteLease = Pick<Lease, 'group' | 'token' | 'isHeld' | 'held'>;

/**
 * Writes to tables under the lease. Both methods throw CINNABAR_LEASE_LOST when the database refuses a write because of an old token, and `DatabaseError` when
 * the database is the reason, or the lease cannot be renewed.
 */
export interface Writer {
  /**
   * Writes with one statement, which keeps no lock when this process is suspended meanwhile.
   * @param changes CTEs, each of which writes what it joins with `fence`, or with another one that does; the last is `done`, with a column `result`
   * @returns the `result` of a row of `done` as text; `undefined` when there is none, or it is NULL
   * @example write(`done AS (DELETE FROM documents USING fence WHERE path = $1 RETURNING path AS result)`, [path])
   */
  write(changes: string, values: readonly unknown[]): Promise<string | undefined>;
  /** Runs statements in a transaction. For rare writes, since a takeover of the lease waits until the transaction ends. */
  transaction<T>(body: (query: Connections['query']) => Promise<T>): Promise<T>;
}

/** How long a write waits for a late renewal. After that the database counts as unreachable. */
const RENEWAL_MS = 2_000;

/** @param options.assertOpen throws when nothing may be written at the moment */
export function createWriter(options: {
  readonly connections: Pick<Connections, 'query' | 'transaction'>;
  readonly schema: string;
  readonly lease: WriteLease | undefined;
  /** Announced with each change of a document, so that a driver can recognise its own changes. */
  readonly id?: string;
  readonly clock: Clock;
  readonly assertOpen: () => Promise<void>;
}): Writer {
  const { connections, schema, lease, id = '', clock, assertOpen } = options;
  // A takeover holds the strongest lock on the lease's row while it raises the token. FOR KEY SHARE waits for it, and then the row does not match any more.
  const held = `SELECT set_config('cinnabar.writer', '${id}', true) IS NOT NULL AS held`;
  const fence =
    lease === undefined
      ? held
      : `${held} FROM ${schema}.leases WHERE group_number = ${lease.group} AND token = ${lease.token} FOR KEY SHARE`;

  const assertMayWrite = async () => {
    await assertOpen();
    if (lease === undefined || lease.isHeld()) return;
    const { inTime } = await withinLimit(clock, RENEWAL_MS, lease.held());
    if (!inTime) throw new DatabaseError('DATABASE_AWAY', new Error('the lease could not be renewed'));
  };
  const assertHeld = (held: unknown) => {
    if (held === true) return;
    const detail = 'the database has refused a change by this one';
    throw new CinnabarError('CINNABAR_LEASE_LOST', { group: String(lease?.group), detail });
  };

  return {
    async write(changes, values) {
      await assertMayWrite();
      const [row] = await connections.query(
        `WITH fence AS MATERIALIZED (${fence}), ${changes}
         SELECT (SELECT held FROM fence) AS held, (SELECT result::text FROM done LIMIT 1) AS result`,
        values,
      );
      assertHeld(row?.held);
      return typeof row?.result === 'string' ? row.result : undefined;
    },
    async transaction(body) {
      await assertMayWrite();
      return connections.transaction(async (query) => {
        const [row] = await query(fence);
        assertHeld(row?.held);
        return body(query);
      });
    },
  };
}
