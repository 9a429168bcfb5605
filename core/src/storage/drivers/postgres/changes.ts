import { CinnabarError, type Clock, type Logger } from '@cinnabar/sdk';
import type { Client } from 'pg';
import { backoffMs, type Connections, DatabaseError, databaseError } from './connection.js';

/** A document that some process has changed. */
export interface Change {
  readonly path: string;
  /** `undefined` for one that is gone. */
  readonly revision: string | undefined;
}

/** The connection that hears of changes, and that holds the database for this process. */
export interface ChangeListener {
  /** Resolves when it listens; later it connects again by itself. @throws DatabaseError, CINNABAR_DATA_IN_USE */
  open(): Promise<void>;
  /** @throws DatabaseError while the database is not held, where it has to be */
  check(): void;
  close(): Promise<void>;
}

/** A server that does not hear from this process for some 11 s lets go of what it holds. */
const KEEPALIVE = 'SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3';

export function createChangeListener(options: {
  readonly connections: Connections;
  readonly schema: string;
  /** Whether this process has to be the only one. */
  readonly exclusive: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onChange: (change: Change) => void;
  /** Called when it listens again, and changes may have been missed. When it rejects, the connection is made anew. */
  readonly onGap: () => Promise<void>;
}): ChangeListener {
  const { connections, schema, exclusive, clock, log, onChange, onGap } = options;
  let client: Client | undefined;
  let opening: Promise<void> | undefined;
  let isClosed = false;
  let cancelRetry: () => void = () => undefined;

  const takePossession = async (on: Client) => {
    if (!exclusive) return;
    const { rows } = await on.query<{ held: boolean }>('SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS held', [
      `cinnabar process ${schema}`,
    ]);
    if (rows[0]?.held === true) return;
    throw new CinnabarError('CINNABAR_DATA_IN_USE', {
      folder: `the database schema ${schema}`,
      holder: 'another process that uses the same database',
    });
  };

  const lost = (gone: Client, error: unknown) => {
    if (client !== gone) return;
    client = undefined;
    if (isClosed) return;
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
    fresh.on('error', (error) => lost(fresh, error));
    fresh.on('end', () => lost(fresh, new Error('the connection ended')));
    fresh.on('notification', ({ payload = '' }) => {
      const space = payload.indexOf(' ');
      const revision = payload.slice(0, space);
      onChange({ path: payload.slice(space + 1), revision: revision === '-' ? undefined : revision });
    });
    try {
      await fresh.connect();
      await fresh.query(KEEPALIVE);
      await takePossession(fresh);
      await fresh.query(`LISTEN ${schema}`);
      // What was written before it listened was announced to others only. Nothing is read before the first time.
      if (!isFirst) await onGap();
    } catch (error) {
      await fresh.end().catch(() => undefined);
      throw databaseError(error);
    }
    if (isClosed) return fresh.end();
    client = fresh;
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
      if (exclusive && client === undefined) {
        throw new DatabaseError('DATABASE_AWAY', new Error('the database is not held by this process'));
      }
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
