import type { Pool, PoolClient, PoolConfig } from 'pg';

/** The address of a database, and how to connect. */
export interface PostgresOptions {
  /** `postgres://user:password@host:5432/database` */
  readonly url: string;
  /** The schema of all tables, so that bots can share a database. */
  readonly schema: string;
  /** Maximum number of connections, in addition to the one that listens. */
  readonly poolSize: number;
  /** `verify` checks the server's certificate, `require` only encrypts; the URL decides when it is left out. */
  readonly ssl?: (typeof SSL_MODES)[number];
}

export const SSL_MODES = ['verify', 'require', 'off'] as const;
export const DEFAULT_POOL_SIZE = 8;
/** A schema's name, which is inserted into SQL, where parameters are not possible for names. */
export const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,39}$/;

const CONNECT_MS = 5_000;
const STATEMENT_MS = 15_000;
/** The server rolls back a transaction that is idle for longer, so that a suspended process does not keep locks. */
const IDLE_IN_TRANSACTION_MS = 4_000;

/** The reason why a database operation failed; `diskTroubleOf` accepts its `code`. */
export class DatabaseError extends Error {
  readonly code: DatabaseTrouble;
  constructor(code: DatabaseTrouble, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'DatabaseError';
    this.code = code;
  }
}

type DatabaseTrouble = 'DATABASE_AWAY' | 'DATABASE_RIGHTS' | 'DATABASE_FULL' | 'DATABASE_READ_ONLY';

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const TROUBLES: readonly (readonly [codes: RegExp, trouble: DatabaseTrouble])[] = [
  [/^(?:08...|57P0.|53300|57014|25P03|E[A-Z]{3,})$/, 'DATABASE_AWAY'],
  [/^(?:42501|28...|3D000)$/, 'DATABASE_RIGHTS'],
  [/^(?:53100|53200)$/, 'DATABASE_FULL'],
  [/^25006$/, 'DATABASE_READ_ONLY'],
];

/** The message of `pg` without a code when a connection is lost. */
const GONE =
  /connection (?:terminated|error)|timeout (?:exceeded|expired)|query read timeout|not queryable|Connection ended/i;

/** The error as a `DatabaseError`, whose code has a text for people; unchanged when the database is not the reason. */
export function databaseError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DatabaseError) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const [, trouble] = TROUBLES.find(([codes]) => codes.test(code)) ?? [];
  if (trouble !== undefined) return new DatabaseError(trouble, error);
  return GONE.test(error.message) ? new DatabaseError('DATABASE_AWAY', error) : error;
}

/** `endless`: statements have no time limit. */
type Patience = 'some' | 'endless';

/** Settings of `pg` for the pool and for the listening connection. */
function settingsOf({ url, ssl }: PostgresOptions, patience: Patience): PoolConfig {
  return {
    connectionString: url,
    application_name: 'cinnabar',
    connectionTimeoutMillis: CONNECT_MS,
    ...(patience === 'endless' ? {} : { statement_timeout: STATEMENT_MS, query_timeout: STATEMENT_MS + CONNECT_MS }),
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    ...(ssl === undefined ? {} : { ssl: ssl === 'off' ? false : { rejectUnauthorized: ssl === 'verify' } }),
  };
}

/** Loaded with the first connection: a bot on files does not need it. */
async function loadPg() {
  return (await import('pg')).default;
}

/** Connections to one database. Each method throws `DatabaseError` when the database is the reason. */
export interface Connections {
  query(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Runs statements in a transaction. */
  transaction<T>(body: (query: Connections['query']) => Promise<T>): Promise<T>;
  /** A connection outside of the pool, not connected yet. */
  single(): Promise<SingleConnection>;
  close(): Promise<void>;
}

/** The part of a `pg` connection that the driver uses. Not the type of `pg`, for which projects that compile against this package would need `@types/pg`. */
export interface SingleConnection {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(
    event: 'notification',
    listener: (message: { readonly channel: string; readonly payload?: string | undefined }) => void,
  ): unknown;
  connect(): Promise<unknown>;
  query(sql: string, values?: unknown[]): Promise<{ readonly rows: readonly Row[] }>;
  end(): Promise<void>;
}

export type Row = Readonly<Record<string, unknown>>;

export function createConnections(options: PostgresOptions, patience: Patience = 'some'): Connections {
  let opened: Promise<Pool> | undefined;
  const pool = () => {
    opened ??= loadPg().then(({ Pool: PoolOfPg }) => {
      const made = new PoolOfPg({ ...settingsOf(options, patience), max: options.poolSize });
      // The pool replaces an idle connection that breaks; the next query fails if the database is unreachable.
      made.on('error', () => undefined);
      return made;
    });
    return opened;
  };
  const coded = async <T>(task: () => Promise<T>): Promise<T> => {
    try {
      return await task();
    } catch (error) {
      throw databaseError(error);
    }
  };
  const querying =
    (on: Pool | PoolClient): Connections['query'] =>
    async (sql, values = []) =>
      (await on.query<Row>(sql, [...values])).rows;

  return {
    query: (sql, values) => coded(async () => querying(await pool())(sql, values)),
    transaction: (body) =>
      coded(async () => {
        const client = await (await pool()).connect();
        let broken: Error | undefined;
        // Without a listener, an error between two statements would end the process. The next statement fails as well.
        const breaks = (error: Error) => {
          broken = error;
        };
        client.on('error', breaks);
        try {
          await client.query('BEGIN');
          const result = await body(querying(client));
          await client.query('COMMIT');
          return result;
        } catch (error) {
          await client.query('ROLLBACK').catch((reason: unknown) => {
            broken = reason instanceof Error ? reason : new Error(String(reason));
          });
          throw error;
        } finally {
          // A connection that could not be rolled back is not used again.
          client.off('error', breaks);
          client.release(broken);
        }
      }),
    async single() {
      const { Client: ClientOfPg } = await loadPg();
      return new ClientOfPg(settingsOf(options, patience));
    },
    async close() {
      await (await opened)?.end();
    },
  };
}

/** The delay before an attempt to connect, in ms, which grows with the number of attempts up to 2 s. */
export function backoffMs(attempts: number): number {
  return Math.min(2_000, 100 * 2 ** Math.min(attempts, 5));
}
