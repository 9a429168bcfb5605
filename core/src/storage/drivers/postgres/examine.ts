import { createConnections, type PostgresOptions } from './connection.js';
import { assertUsable, schemaState } from './migrations.js';

/** The lowest version that supports the statements. */
export const LEAST_SERVER = 13;

/** The state of a database. */
export interface DatabaseFacts {
  /** As the server reports it: `16.4`. */
  readonly server: string;
  readonly major: number;
  /** 0 when the tables do not exist yet. */
  readonly tables: number;
  /** Whether its user may write to the tables, or create them when they are missing. */
  readonly mayWrite: boolean;
}

/**
 * Inspects a database; nothing is created or changed.
 * @throws DatabaseError when it cannot be reached, CINNABAR_DATA_UNUSABLE when a later version has created its tables
 */
export async function examineDatabase(options: PostgresOptions): Promise<DatabaseFacts> {
  const { schema } = options;
  const connections = createConnections({ ...options, poolSize: 1 });
  try {
    const [server] = await connections.query(
      "SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int / 10000 AS major",
    );
    const state = await schemaState(connections.query, schema);
    assertUsable(state, schema);
    const [rights] = await connections.query(
      state.version === 0
        ? `SELECT coalesce(has_schema_privilege(to_regnamespace($1), 'CREATE'),
             has_database_privilege(current_database(), 'CREATE')) AS granted`
        : `SELECT bool_and(has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
             AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE')) AS granted
           FROM pg_class c WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'r'`,
      [schema],
    );
    return {
      server: String(server?.version).split(' ')[0] ?? '',
      major: Number(server?.major),
      tables: state.version,
      mayWrite: rights?.granted === true,
    };
  } finally {
    await connections.close();
  }
}
