import type { Clock, Logger } from '@cinnabar/sdk';
import type { Driver } from '../../driver.js';
import { type Connections, createConnections, type PostgresOptions } from './connection.js';
import { assertUsable, migrate, schemaState } from './migrations.js';
import { createNotifications, type Notifications } from './notifications.js';
import { createDocumentDriver, type DocumentDriverOptions } from './postgres-driver.js';
import { createWriter, type WriteLease, type Writer } from './writer.js';

export interface DatabaseOptions extends PostgresOptions {
  /**
   * `alone` requires that no other process uses these tables, `cluster` that none uses them alone. `look` creates no tables, receives no changes, and finds
   * nothing when there are no tables; only the other two may write.
   */
  readonly use: 'alone' | 'cluster' | 'look';
  readonly clock: Clock;
  readonly log: Logger;
}

/** One schema as one process uses it: a pool of connections, and one more that listens. The first use opens it. */
export interface Database extends Pick<Notifications, 'listen'> {
  readonly schema: string;
  /** Locks the schema, and creates or migrates the tables. @throws DatabaseError, CINNABAR_DATA_IN_USE, CINNABAR_DATA_UNUSABLE */
  open(): Promise<void>;
  /** For reading, and for tables that are not written under a lease. @throws DatabaseError */
  readonly query: Connections['query'];
  readonly transaction: Connections['transaction'];
  /** For writes under a lease; without a lease, for writes while the schema is locked. */
  writer(lease?: WriteLease, id?: string): Writer;
  /** Documents and journals. Closing it leaves the database open for the others. */
  driver(options?: DocumentDriverOptions): Driver;
  close(): Promise<void>;
}

/** Connects at the first use. */
export function openDatabase(options: DatabaseOptions): Database {
  const { schema, use, clock, log } = options;
  const connections = createConnections(options);
  const notifications =
    use === 'look' ? undefined : createNotifications({ connections, schema, hold: use, clock, log });

  let preparing: Promise<void> | undefined;
  let isEmpty = false;
  const open = () => {
    preparing ??= (async () => {
      if (notifications === undefined) {
        const state = await schemaState(connections.query, schema);
        assertUsable(state, schema);
        isEmpty = state.version === 0;
        return;
      }
      await notifications.open();
      // Migrating large tables takes longer than a query may.
      const patient = createConnections({ ...options, poolSize: 1 }, 'endless');
      try {
        await migrate(patient, schema);
      } finally {
        await patient.close();
      }
    })().catch((error: unknown) => {
      preparing = undefined;
      throw error;
    });
    return preparing;
  };
  const query: Connections['query'] = async (sql, values) => {
    await open();
    return isEmpty ? [] : connections.query(sql, values);
  };
  const transaction: Connections['transaction'] = async (body) => {
    await open();
    return connections.transaction(body);
  };

  const database: Database = {
    schema,
    open,
    query,
    transaction,
    writer: (lease, id = '') =>
      createWriter({ connections: { query, transaction }, schema, lease, id, clock, assertOpen: openAndHeld }),
    driver: (settings) => createDocumentDriver(database, settings),
    listen: (channel, listener) => notifications?.listen(channel, listener) ?? (() => undefined),
    async close() {
      await notifications?.close();
      await connections.close();
    },
  };
  const openAndHeld = async () => {
    await open();
    notifications?.check();
  };
  return database;
}

/** The driver of a process that uses a database alone. It connects at the first use. */
export function createPostgresDriver(options: DatabaseOptions): Driver {
  const database = openDatabase(options);
  const driver = database.driver();
  return {
    ...driver,
    async close() {
      await driver.close();
      await database.close();
    },
  };
}

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
