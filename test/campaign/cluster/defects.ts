/** Loaded before a process of the cluster whose program is to have a defect, so that one sees whether the campaign notices: `CAMPAIGN_DEFECT=fence,claims`. */
import pg from 'pg';

const DEFECTS = new Set((process.env.CAMPAIGN_DEFECT ?? '').split(','));

/** A machine that was stopped goes on as if no time had passed: its process takes its leases for valid. Without the fence, it then writes. */
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
