import type { Clock } from '@cinnabar/sdk';
import type { SharedDatabase } from '../../support/cluster-process.js';
import type { SimulatedServer } from './server.js';

/** A stand-in for the database of the bot's code: each statement is counted and takes its measured time, and reads return example data. */
export function createSimulatedDatabase(
  server: SimulatedServer,
  { clock, guild }: { readonly clock: Clock; readonly guild: string },
): SharedDatabase {
  const limit = { until: Number.NEGATIVE_INFINITY, used: 0 };

  /** The result of the statement in `createSharedLimits`. */
  const take = (wanted: number, left: number, lastsMs: number) => {
    if (limit.until <= clock.now()) Object.assign(limit, { until: clock.now() + lastsMs, used: 0 });
    const granted = Math.max(0, Math.min(wanted, left - limit.used));
    limit.used += granted;
    return { granted, ends_in_ms: limit.until - clock.now() };
  };

  const query: SharedDatabase['query'] = async (sql, values = []) => {
    if (sql.includes('.guild_snapshots')) {
      const [ids] = values;
      const asked = Array.isArray(ids) ? ids : [];
      await server.run(['snapshot', asked.length]);
      return asked.map((id) => ({ guild_id: id, body: guild }));
    }
    if (sql.includes('.limits')) {
      await server.run(['budget', 1]);
      const [, wanted, left, lastsMs] = values.map(Number);
      return [take(wanted ?? 0, left ?? 0, lastsMs ?? 0)];
    }
    throw new Error(`the simulation does not know what this takes: ${sql}`);
  };

  return {
    schema: 'simulated',
    query,
    writer: () => ({
      async write(changes) {
        if (changes.includes('.shard_sessions')) {
          await server.run(['session', 1], ['guild', changes.split('::json)').length - 1]);
        } else if (changes.includes('.claims'))
          await server.run([changes.includes('INSERT') ? 'claim' : 'claim-end', 1]);
        else throw new Error(`the simulation does not know what this takes: ${changes}`);
        return 'done';
      },
      transaction: () => Promise.reject(new Error('the simulation knows no transactions')),
    }),
  };
}
