import type { TestServer } from '../../support/postgres.js';

/** The tables that the processes write, each with the expression for the server, shard or group of a row. */
const WATCHED = {
  // Rows without a server may be written by every process.
  documents: '(nullif(row_of.guild_id, 0) >> 22) % $groups',
  guild_snapshots: '(row_of.guild_id >> 22) % $groups',
  shard_sessions: 'row_of.shard % $groups',
  claims: 'row_of.group_number',
} as const;

/** A write by a process that did not hold the group any more. */
interface VoidWrite {
  readonly table: string;
  readonly group: number;
  readonly writer: string;
  readonly holder: string | null;
}

export interface Written {
  readonly writes: number;
  /** Number of writes by the holder after its lease had expired and before another process took it. */
  readonly late: number;
  readonly byVoidLeases: readonly VoidWrite[];
}

/**
 * Makes the database record every write with its writer and the current holder of the lease. The writer is identified by the name of its connection,
 * independent of the program's own output.
 */
export async function watchWrites(database: TestServer, schema: string, groups: number): Promise<void> {
  const triggers = Object.entries(WATCHED).map(([table, group]) => {
    const groupOf = (row: string) => group.replace('row_of', row).replace('$groups', String(groups));
    return `
      CREATE OR REPLACE FUNCTION campaign.saw_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
          number int := CASE TG_OP WHEN 'DELETE' THEN ${groupOf('OLD')} ELSE ${groupOf('NEW')} END;
          serves text;
          is_late boolean;
        BEGIN
          SELECT name, until < clock_timestamp() INTO serves, is_late
            FROM ${schema}.leases LEFT JOIN ${schema}.members ON id = holder WHERE group_number = number;
          INSERT INTO campaign.writes VALUES ('${table}', number, current_setting('application_name'), serves, is_late);
          RETURN NULL;
        END $$;
      CREATE OR REPLACE TRIGGER campaign AFTER INSERT OR UPDATE OR DELETE ON ${schema}.${table}
        FOR EACH ROW EXECUTE FUNCTION campaign.saw_${table}();`;
  });
  await database.query(`
    CREATE SCHEMA IF NOT EXISTS campaign;
    CREATE TABLE IF NOT EXISTS campaign.writes (what text, number int, writer text, holder text, is_late boolean);
    ${triggers.join('')}`);
}

/** @returns the writes since the last call */
export async function takeWritten(database: TestServer): Promise<Written> {
  const rows = await database.query(
    `WITH taken AS (DELETE FROM campaign.writes RETURNING *)
     SELECT what, number, writer, holder, count(*)::int AS n, count(*) FILTER (WHERE is_late)::int AS late FROM taken
     WHERE number IS NOT NULL AND writer LIKE 'm%' GROUP BY what, number, writer, holder`,
  );
  const byVoidLeases = rows
    .filter(({ writer, holder }) => writer !== holder)
    .map(({ what, number, writer, holder }) => ({
      table: String(what),
      group: Number(number),
      writer: String(writer),
      holder: typeof holder === 'string' ? holder : null,
    }));
  const sum = (of: 'n' | 'late') => rows.reduce((total, row) => total + Number(row[of]), 0);
  return { writes: sum('n'), late: sum('late'), byVoidLeases };
}
