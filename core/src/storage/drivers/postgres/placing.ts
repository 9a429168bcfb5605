import type { Database } from './database.js';
import { decodePath } from './postgres-driver.js';

/** Number of concurrent requests to Discord. */
const AT_ONCE = 5;

/**
 * Sets the server of documents of channels and roles that were written without it, such as those copied from files. Until then they belong to the first host of
 * a cluster.
 * @param guildOf `null` for a channel of no server, and for one that was deleted
 * @returns how many documents it has updated
 */
export async function placeDocuments(
  { schema, query }: Pick<Database, 'schema' | 'query'>,
  guildOf: (kind: 'channel' | 'role', id: string) => Promise<string | null>,
): Promise<number> {
  const rows = await query(
    `SELECT path FROM ${schema}.documents WHERE guild_id IS NULL UNION SELECT path FROM ${schema}.copies WHERE guild_id IS NULL`,
  );
  const places = new Map<string, { kind: 'channel' | 'role'; id: string; paths: string[] }>();
  for (const { path } of rows) {
    const [, , kind, ...rest] = decodePath(String(path));
    const id = rest.at(-1);
    if (id === undefined || (kind !== 'channel' && kind !== 'role')) continue;
    const place = places.get(`${kind} ${id}`) ?? { kind, id, paths: [] };
    place.paths.push(String(path));
    places.set(`${kind} ${id}`, place);
  }
  const waiting = [...places.values()];
  const work = async () => {
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      const guildId = (await guildOf(place.kind, place.id)) ?? '0';
      for (const table of ['documents', 'copies'])
        await query(`UPDATE ${schema}.${table} SET guild_id = $1 WHERE guild_id IS NULL AND path = ANY($2)`, [
          guildId,
          place.paths,
        ]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return rows.length;
}
