import { CinnabarError, type Clock, type Logger } from '@cinnabar/sdk';
import { backoffMs, type Connections, DatabaseError, databaseError, type SingleConnection } from './connection.js';

/** A subscriber of a channel. */
export interface ChannelListener {
  received(payload: string): void;
  /** Called when notifications stop arriving. */
  lost?(): void;
  /** Called when the subscription is active again, and notifications may have been missed. When it rejects, the connection is opened again. */
  missed(): Promise<void>;
}

/** The connection of this process that receives notifications, and holds the lock on the schema. */
export interface Notifications {
  /** Resolves when it listens; later it reconnects by itself. @throws DatabaseError, CINNABAR_DATA_IN_USE */
  open(): Promise<void>;
  /** @throws DatabaseError while the lock is not held */
  check(): void;
  /** @param channel of lower case letters, digits and `_`; @returns a function that ends the subscription */
  listen(channel: string, listener: ChannelListener): () => void;
  close(): Promise<void>;
}

/** A server that does not hear from this process for some 11 s releases its locks. */
const KEEPALIVE = 'SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3';

export function createNotifications(options: {
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

  /** The server releases the lock when the connection ends. */
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
      // Changes made before it listened were announced to others only. Nothing is read before the first time.
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

  /** On an open connection. */
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
