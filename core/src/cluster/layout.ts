import { shardCountFor } from '../gateway/partition.js';
import type { Connections } from '../storage/drivers/postgres/connection.js';

/** How a cluster divides the servers of its bot. */
export interface Layout {
  readonly groups: number;
  /** A multiple of the groups. */
  readonly shardCount: number;
}

/** When no process has sent a heartbeat for this time, the cluster counts as stopped. */
const SILENT_MS = 15_000;

/**
 * The layout that all processes share. The groups stay those of the very first start, since journals belong to them. The number of shards is set to Discord's
 * recommendation when the first process of a stopped cluster starts: another number makes all shards identify again.
 * @param wanted the number of groups when none exist yet
 * @param recommended how many shards Discord recommends
 */
export function agreeOnLayout(
  connections: Pick<Connections, 'transaction'>,
  schema: string,
  { wanted, recommended }: { readonly wanted: number; readonly recommended: number },
): Promise<Layout> {
  return connections.transaction(async (query) => {
    await query(`LOCK TABLE ${schema}.cluster IN EXCLUSIVE MODE`);
    const [known] = await query(`SELECT groups, shard_count FROM ${schema}.cluster`);
    if (known === undefined) {
      const layout = { groups: wanted, shardCount: shardCountFor(recommended, wanted) };
      await query(`INSERT INTO ${schema}.cluster (groups, shard_count) VALUES ($1, $2)`, [
        layout.groups,
        layout.shardCount,
      ]);
      return layout;
    }
    const groups = Number(known.groups);
    const shardCount = Number(known.shard_count);
    const [alive] = await query(`SELECT FROM ${schema}.members WHERE seen_at > now() - $1 * interval '1 ms'`, [
      SILENT_MS,
    ]);
    const due = shardCountFor(recommended, groups);
    if (alive !== undefined || due === shardCount) return { groups, shardCount };
    await query(`UPDATE ${schema}.cluster SET shard_count = $1`, [due]);
    return { groups, shardCount: due };
  });
}
