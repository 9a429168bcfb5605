import { randomUUID } from 'node:crypto';
import {
  type Actor,
  CinnabarError,
  type Clock,
  ERRORS,
  type ErrorCode,
  type Logger,
  sleep,
  UserError,
  z,
} from '@cinnabar/sdk';
import { groupOf, type Partition } from '../gateway/partition.js';
import type { Database } from '../storage/drivers/postgres/database.js';
import type { WriteLease } from '../storage/drivers/postgres/writer.js';
import type { AskOptions, ClusterChannel, RequestHandler, RequestKind } from './assignment.js';

/** A channel that is closed with its host. */
export interface OpenChannel extends ClusterChannel {
  /** Starts answering, also requests that the group received before. */
  open(): Promise<void>;
  close(): void;
}

/** A NOTIFY may be missed: the requester polls in these intervals, first and later. */
const LOOK_MS = 1_000;
const LATER_LOOK_MS = 8_000;
const KEPT = "interval '1 hour'";

const failureSchema = z.object({
  code: z.string().optional(),
  params: z.record(z.string(), z.string()).optional(),
  /** The text of a UserError, which members may read. */
  sentence: z.string().optional(),
});

const requestSchema = z.object({ kind: z.string(), body: z.unknown() });
const endSchema = z.object({ state: z.string(), answer: z.unknown(), failure: failureSchema.nullable() });

/** PostgreSQL's limit is 8,000 bytes. */
const LONGEST_REPORT = 2_000;

type Handler = RequestHandler<unknown, unknown>;

/**
 * Requests are rows of a table, which the group's present host takes under its lease: one host carries each out, once. Rows rather than connections between
 * processes need no further address and no further secret: access to the database is the permission to make requests.
 */
export function createClusterChannel(options: {
  readonly database: Pick<Database, 'schema' | 'query' | 'writer' | 'listen'>;
  readonly lease: WriteLease;
  readonly partition: Partition;
  readonly clock: Clock;
  readonly log: Logger;
}): OpenChannel {
  const { database, lease, partition, clock, log } = options;
  const { query, schema } = database;
  const requests = `${schema}.requests`;
  const news = `${schema}_requests`;
  const { write } = database.writer(lease);
  const handlers = new Map<string, Handler>();
  const waiting = new Map<string, () => void>();
  const reported = new Map<string, (sign: unknown) => void>();
  const closing = new AbortController();
  let stopListening: () => void = () => undefined;
  const notify = (text: string) => query('SELECT pg_notify($1, $2)', [news, text]);

  const carryOut = async (id: string): Promise<void> => {
    const taken = await write(
      `done AS (UPDATE ${requests} SET state = 'taken' FROM fence
         WHERE id = $1 AND group_number = ${lease.group} AND state = 'asked' AND deadline > now()
         RETURNING json_build_object('kind', kind, 'body', body) AS result)`,
      [id],
    );
    if (taken === undefined) return;
    const { kind, body } = requestSchema.parse(JSON.parse(taken));
    const { report, idle } = reporting(id);
    const { answer = null, failure = null } = await outcomeOf(handlers.get(kind), body, report);
    await idle();
    await write(
      `done AS (UPDATE ${requests} SET state = 'done', answer = $2::json, failure = $3::json FROM fence WHERE id = $1 RETURNING id AS result)`,
      [id, JSON.stringify(answer), JSON.stringify(failure)],
    );
    await notify(`done ${id}`);
  };
  /** One at a time, so that reports arrive in order and before the answer. */
  const reporting = (id: string) => {
    let sending: Promise<void> | undefined;
    const send = async (text: string) => {
      try {
        await notify(`report ${id} ${text}`);
      } catch (error) {
        log.debug('how far a request is was not told', { error });
      }
      sending = undefined;
    };
    return {
      report(sign: unknown) {
        const text = JSON.stringify(sign);
        if (sending === undefined && text.length <= LONGEST_REPORT) sending = send(text);
      },
      idle: async () => sending,
    };
  };
  const outcomeOf = async (handle: Handler | undefined, body: unknown, report: (sign: unknown) => void) => {
    try {
      if (handle === undefined) throw new Error('this process does not answer such requests');
      return { answer: await handle(body, closing.signal, report) };
    } catch (error) {
      const failure = failureOf(error);
      // A UserError is for the requester; only other failures are logged here.
      if (Object.keys(failure).length > 0) log.debug('a request of another process was refused', { error });
      else log.warn('a request of another process failed', { error });
      return { failure };
    }
  };
  /** Requests that an earlier host of the group had begun: nobody carries them out any more, and whether they took effect is not known. */
  const giveUpLost = () => {
    const failure = failureOf(new CinnabarError('CINNABAR_CLUSTER_NO_ANSWER', { group: String(lease.group) }));
    return write(
      `lost AS (UPDATE ${requests} SET state = 'done', failure = $1::json FROM fence
         WHERE group_number = ${lease.group} AND state = 'taken' RETURNING id),
       done AS (SELECT count(pg_notify($2, 'done ' || id)) AS result FROM lost)`,
      [JSON.stringify(failure), news],
    );
  };
  const carryOutAll = async () => {
    const rows = await query(
      `SELECT id::text AS id FROM ${requests} WHERE group_number = $1 AND state = 'asked' AND deadline > now()`,
      [lease.group],
    );
    await Promise.all(rows.map(({ id }) => safely(String(id))));
  };
  const safely = (id: string) =>
    carryOut(id).catch((error: unknown) => log.warn('a request of another process could not be answered', { error }));

  const heard = (text: string) => {
    const [what, id = '', group] = text.split(' ');
    if (what === 'done') waiting.get(id)?.();
    else if (what === 'report') reported.get(id)?.(JSON.parse(text.slice(`report ${id} `.length)));
    else if (Number(group) === lease.group && !closing.signal.aborted) void safely(id);
  };

  const missed = async () => {
    for (const look of waiting.values()) look();
    await carryOutAll();
  };

  const endOf = async (id: string) => {
    const [row] = await query(`SELECT state, answer, failure FROM ${requests} WHERE id = $1`, [id]);
    return row === undefined ? undefined : endSchema.parse(row);
  };

  const ask = async <B, T>(group: number, kind: RequestKind<B, T>, body: B, options: AskOptions) => {
    const { deadlineMs, signal, onReport } = options;
    const id = randomUUID();
    const until = clock.now() + deadlineMs;
    if (onReport !== undefined) reported.set(id, onReport);
    await query(
      `WITH asked AS (INSERT INTO ${requests} (id, group_number, kind, body, deadline)
         VALUES ($1, $2, $3, $4, now() + $5 * interval '1 ms') RETURNING id)
       SELECT pg_notify($6, $7) FROM asked`,
      [id, group, kind.name, JSON.stringify(kind.body.parse(body)), deadlineMs, news, `ask ${id} ${group}`],
    );
    let lookMs = LOOK_MS;
    try {
      while (clock.now() < until) {
        signal?.throwIfAborted();
        const done = new AbortController();
        waiting.set(id, () => done.abort());
        const end = await endOf(id);
        if (end?.state === 'done') return answerOf(kind, end);
        await sleep(clock, Math.min(lookMs, until - clock.now()), done.signal);
        lookMs = Math.min(2 * lookMs, LATER_LOOK_MS);
      }
      throw new CinnabarError('CINNABAR_CLUSTER_NO_ANSWER', { group: String(group) });
    } finally {
      waiting.delete(id);
      reported.delete(id);
      // An answer that was read may hold personal data, and a request that was not taken must not start any more. One that was taken may still finish.
      await query(`DELETE FROM ${requests} WHERE id = $1 AND state <> 'taken'`, [id]).catch((error: unknown) =>
        log.debug('a request stays until it is old', { error }),
      );
    }
  };

  return {
    ask,
    async askAll(kind, body, askOptions) {
      const asked = Array.from({ length: partition.groups }, async (_, group) => {
        try {
          return { group, ok: true, answer: await ask(group, kind, body, askOptions) } as const;
        } catch (error) {
          return { group, ok: false, error: error instanceof Error ? error : new Error(String(error)) } as const;
        }
      });
      return Promise.all(asked);
    },
    answer(kind, handle) {
      handlers.set(kind.name, async (body, signal, report) => handle(kind.body.parse(body), signal, report));
      const handler = handlers.get(kind.name);
      return () => {
        // A plugin that was restarted has registered its handler already.
        if (handlers.get(kind.name) === handler) handlers.delete(kind.name);
      };
    },
    async open() {
      // Before it can begin one of its own.
      await giveUpLost();
      stopListening = database.listen(news, { heard, missed });
      await query(`DELETE FROM ${requests} WHERE deadline < now() - ${KEPT}`);
      await carryOutAll();
    },
    close() {
      closing.abort();
      stopListening();
    },
  };
}

/** An object from a host that runs the same version or a neighbouring one: only the presence of `member` is checked. */
export const objectWith = <T>(member: string) =>
  z.custom<T>((value) => typeof value === 'object' && value !== null && member in value);

/**
 * Requests about servers: this host answers for servers of its own group, and asks the host of the group for others.
 * @param byDefaultMs the deadline where a request gives none
 */
export function createCarrier(
  { channel, partition }: { readonly channel: ClusterChannel; readonly partition: Partition },
  byDefaultMs: number,
) {
  return <B, T>(kind: RequestKind<B, T>, run: (body: B, signal?: AbortSignal) => Promise<T>) => {
    channel.answer(kind, run);
    return ({ guildId }: Actor, body: B, deadlineMs = byDefaultMs, signal?: AbortSignal): Promise<T> =>
      partition.owns(guildId)
        ? run(body, signal)
        : channel.ask(groupOf(guildId, partition.groups), kind, body, {
            deadlineMs,
            ...(signal === undefined ? {} : { signal }),
          });
  };
}

function answerOf<B, T>(kind: RequestKind<B, T>, end: z.output<typeof endSchema>): T {
  if (end.failure === null) return kind.answer.parse(end.answer);
  const { code, params = {}, sentence } = end.failure;
  if (sentence !== undefined) throw new UserError(sentence);
  if (code !== undefined && isErrorCode(code)) throw new CinnabarError(code, params);
  throw new Error('the process that was asked has failed at it; its log says why');
}

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

/** The part of an error that the requester may see: the rest is in the log of the host that failed. */
function failureOf(error: unknown): z.output<typeof failureSchema> {
  if (error instanceof UserError) return { sentence: error.message };
  if (!(error instanceof CinnabarError)) return {};
  return {
    code: error.code,
    params: Object.fromEntries(Object.entries(error.params).map(([key, value]) => [key, String(value)])),
  };
}
