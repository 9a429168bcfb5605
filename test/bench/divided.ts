import { setTimeout as wait } from 'node:timers/promises';
import type { TestServer } from '../support/postgres.js';

const PATIENCE_MS = 300_000;
const LOOK_EVERY_MS = 250;

/** Resolves when each of `count` processes serves its share of the groups. */
export async function divided(database: TestServer, processes: number, groups: number): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (Date.now() < end) {
    const held = await database.query(
      'SELECT count(*)::int AS n FROM cinnabar.leases WHERE ready_at IS NOT NULL AND until > now() GROUP BY holder',
    );
    const shares = held.map(({ n }) => Number(n));
    const isFair = shares.length === processes && Math.min(...shares) >= Math.floor(groups / processes);
    if (isFair && shares.reduce((sum, n) => sum + n, 0) === groups) return;
    await wait(LOOK_EVERY_MS);
  }
  throw new Error(`the groups were not divided among ${processes} processes`);
}
