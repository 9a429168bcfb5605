/** Loaded before a cluster process to introduce a defect that the campaign has to detect: `CAMPAIGN_DEFECT=fence,claims`. */
import pg from 'pg';

const DEFECTS = new Set((process.env.CAMPAIGN_DEFECT ?? '').split(','));

/** Simulates a machine whose clocks stop while it is stopped: its process considers its leases valid. Without the fencing token, its writes are accepted. */
function stopClocks(): void {
  const standStill = (read: () => number) => {
    let [last, stood] = [read(), 0];
    return () => {
      const now = read();
      if (now - last > 5_000) stood += now - last;
      last = now;
      return now - stood;
    };
  };
  const monotonic = standStill(performance.now.bind(performance));
  const civil = standStill(Date.now);
  performance.now = monotonic;
  Date.now = civil;
  setInterval(() => [monotonic(), civil()], 50).unref();
}

function rewritten(sql: string): string {
  let text = sql;
  if (DEFECTS.has('fence')) text = text.replace(/ AND token = \d+ FOR KEY SHARE/g, '');
  if (DEFECTS.has('claims'))
    text = text.replace(
      'ON CONFLICT (id) DO NOTHING RETURNING id',
      'ON CONFLICT (id) DO UPDATE SET token = EXCLUDED.token RETURNING claims.id',
    );
  return text;
}

const { query } = pg.Client.prototype;
Object.assign(pg.Client.prototype, {
  query(this: unknown, first: unknown, ...others: readonly unknown[]): unknown {
    return Reflect.apply(query, this, [typeof first === 'string' ? rewritten(first) : first, ...others]);
  },
});
if (DEFECTS.has('clocks')) stopClocks();
