import { shardCountFor } from '../gateway/partition.js';
import type { Connections } from '../storage/drivers/postgres/connection.js';

/** How a cluster divides the servers of its bot. */
export interface Layout {
  readonly groups: number;
  /** A multiple of the groups. */
  readonly shardCount: number;
}

/** Without a heartbeat of any process for so long, the cluster counts as stopped. */
const SILENT_MS = 15_000;

/**
 * What the processes have agreed on. The groups are those of the very first start, since journals belong to them; the number of shards follows
 * Discord's recommendation when the first process of a cluster that stood still starts, since all shards have to begin anew with another one.
 * @param wanted how many groups there are to be, where there are none yet
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
