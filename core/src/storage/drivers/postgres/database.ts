import { CinnabarError, type Clock, type Logger } from '@cinnabar/sdk';
import type { Driver } from '../../driver.js';
import {
  backoffMs,
  type Connections,
  createConnections,
  DatabaseError,
  databaseError,
  type PostgresOptions,
  type SingleConnection,
} from './connection.js';
import { assertUsable, migrate, schemaState } from './migrations.js';
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

/** One schema in the use of one process: a pool of connections, and one more that listens. The first use opens it. */
export interface Database extends Pick<Notifications, 'listen'> {
  readonly schema: string;
  /** Locks the schema, and creates or migrates the tables. @throws DatabaseError, CINNABAR_DATA_IN_USE, CINNABAR_DATA_UNUSABLE */
  open(): Promise<void>;
  /** Runs a statement that reads, or that writes to tables that need no lease. @throws DatabaseError */
  readonly query: Connections['query'];
  readonly transaction: Connections['transaction'];
  /** Makes a writer under a lease; without one, its writes require the lock of the schema. */
  writer(lease?: WriteLease, id?: string): Writer;
  /** Makes a driver of documents and journals. Closing it leaves the database open for the other drivers. */
  driver(options?: DocumentDriverOptions): Driver;
  close(): Promise<void>;
}

/** Opens a database, which is connected at the first use. */
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
      // Without a time limit, since migrating large tables takes longer than a query may.
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
interface DatabaseFacts {
  /** The server's version in its own notation: `16.4`. */
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

/** A subscriber of a channel. */
interface ChannelListener {
  received(payload: string): void;
  /** Called when notifications stop arriving. */
  lost?(): void;
  /** Called when the subscription is active again, and notifications may have been missed. When it rejects, the connection is opened again. */
  missed(): Promise<void>;
}

/** The connection of this process that receives notifications, and holds the lock on the schema. */
interface Notifications {
  /** Resolves when the connection listens. A lost connection is replaced later. @throws DatabaseError, CINNABAR_DATA_IN_USE */
  open(): Promise<void>;
  /** @throws DatabaseError while the lock is not held */
  check(): void;
  /** @param channel of lower case letters, digits and `_`; @returns a function that ends the subscription */
  listen(channel: string, listener: ChannelListener): () => void;
  close(): Promise<void>;
}

/** With these settings, the server releases the locks of a process that it cannot reach for some 11 s. */
const KEEPALIVE = 'SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3';

function createNotifications(options: {
  readonly connections: Connections;
  readonly schema: string;
  /** `alone`: no other process may use it; `cluster`: only others of the same kind. */
  readonly hold: 'alone' | 'cluster';
  readonly clock: Clock;
  readonly log: Logger;
}): Notifications {
  const { connections, schema, hold, clock, log } = options;
  const channels = new Map<string, Set<ChannelListener>>();
  let client: SingleConnection | undefined;
  let opening: Promise<void> | undefined;
  let isClosed = false;
  let cancelRetry: () => void = () => undefined;

  /** Locks the schema until the connection ends. @throws CINNABAR_DATA_IN_USE */
  const takePossession = async (on: SingleConnection) => {
    const tryLock = async (name: string) => {
      const { rows } = await on.query(`SELECT ${name}(hashtextextended($1, 0)) AS held`, [
        `cinnabar process ${schema}`,
      ]);
      return rows[0]?.held === true;
    };
    const shared = 'pg_try_advisory_lock_shared';
    if (await tryLock(hold === 'alone' ? 'pg_try_advisory_lock' : shared)) return;
    const holder =
      hold === 'cluster'
        ? 'a process that runs without --cluster'
        : (await tryLock(shared))
          ? 'a cluster (cinnabar start --cluster)'
          : 'another process that uses the same database';
    throw new CinnabarError('CINNABAR_DATA_IN_USE', { folder: `the database schema ${schema}`, holder });
  };

  const lost = (gone: SingleConnection, error: unknown) => {
    if (client !== gone) return;
    client = undefined;
    if (isClosed) return;
    for (const channel of channels.keys()) for (const listener of listenersOn(channel)) listener.lost?.();
    log.warn('the connection to the database is lost; connecting again', { error });
    retry(0);
  };

  const retry = (attempts: number) => {
    cancelRetry = clock.after(backoffMs(attempts), () => {
      connect(false).then(
        () => log.info('connected to the database again'),
        (error: unknown) => {
          log.debug('the database is still away', { error });
          if (!isClosed) retry(attempts + 1);
        },
      );
    });
  };

  const connect = async (isFirst: boolean): Promise<void> => {
    const fresh = await connections.single();
    let broken: unknown;
    const breaks = (error: unknown) => {
      broken ??= error;
      lost(fresh, error);
    };
    fresh.on('error', breaks);
    fresh.on('end', () => breaks(new Error('the connection ended')));
    fresh.on('notification', ({ channel, payload = '' }) => {
      for (const { received } of channels.get(channel) ?? []) received(payload);
    });
    try {
      await fresh.connect();
      await fresh.query(KEEPALIVE);
      await takePossession(fresh);
      const before = [...channels.keys()];
      for (const channel of before) await fresh.query(`LISTEN ${channel}`);
      // Changes from before the connection listened were not announced to it. At the first connection nothing has been read yet.
      if (!isFirst) await Promise.all(before.flatMap(listenersOn).map(({ missed }) => missed()));
      if (broken !== undefined) throw broken;
      if (isClosed) return await fresh.end();
      client = fresh;
      for (const channel of channels.keys()) if (!before.includes(channel)) void begin(fresh, channel);
    } catch (error) {
      await fresh.end().catch(() => undefined);
      throw databaseError(error);
    }
  };
  const listenersOn = (channel: string) => [...(channels.get(channel) ?? [])];

  /** Begins to listen to a channel on an open connection. */
  const begin = async (on: SingleConnection, channel: string) => {
    try {
      await on.query(`LISTEN ${channel}`);
      await Promise.all(listenersOn(channel).map(({ missed }) => missed()));
    } catch (error) {
      lost(on, error);
      await on.end().catch(() => undefined);
    }
  };

  return {
    open() {
      opening ??= connect(true).catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },
    check() {
      if (client === undefined) {
        throw new DatabaseError('DATABASE_AWAY', new Error('the database is not held by this process'));
      }
    },
    listen(channel, listener) {
      const known = channels.get(channel);
      const listeners = known ?? new Set();
      channels.set(channel, listeners.add(listener));
      if (known === undefined && client !== undefined) void begin(client, channel);
      return () => void listeners.delete(listener);
    },
    async close() {
      isClosed = true;
      cancelRetry();
      await opening?.catch(() => undefined);
      const open = client;
      client = undefined;
      await open?.end().catch((error: unknown) => log.debug('the connection was gone already', { error }));
    },
  };
}
