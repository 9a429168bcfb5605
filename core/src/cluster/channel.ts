import { type Actor, CinnabarError, type Clock, type Logger, type ToolProgress, UserError, z } from '@cinnabar/sdk';
import { groupOf, type Partition } from '../gateway/partition.js';
import type { Database } from '../storage/drivers/postgres/database.js';
import type { WriteLease } from '../storage/drivers/postgres/writer.js';
import type { ClusterChannel, RequestHandler, RequestKind } from './assignment.js';
import { createRequester, type failureSchema, newsOfRequests, requestsOf } from './requester.js';

/** A channel that is closed with its host. */
export interface OpenChannel extends ClusterChannel {
  /** Starts answering, also requests that the group received before. */
  open(): Promise<void>;
  close(): void;
}

/** Rows are kept this long after their deadline, which is that for beginning a request: longer than any request is executed. */
const KEPT = "interval '3 hours'";

const requestSchema = z.object({ kind: z.string(), body: z.unknown() });

/** PostgreSQL's limit is 8,000 bytes. */
const LONGEST_REPORT = 2_000;

type Handler = RequestHandler<unknown, unknown>;

/**
 * Sends requests as rows of a table. The group's present host claims a row under its lease, so that one host executes each request, once. Unlike connections
 * between processes, rows need no further address and no further secret: access to the database is the permission to make requests.
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
  const requests = requestsOf(schema);
  const news = newsOfRequests(schema);
  const { ask, done, report: reported, lookAgain } = createRequester({ query, schema, clock, log });
  const { write } = database.writer(lease);
  const handlers = new Map<string, Handler>();
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
      // The requester gets the sentence of a UserError, or the code of a CinnabarError; other failures are reported in this host's log only.
      if (Object.keys(failure).length > 0) log.debug('a request of another process was refused', { error });
      else log.warn('a request of another process failed', { error });
      return { failure };
    }
  };
  /** Answers requests that an earlier host of the group had begun with an error: they will not be executed again, and their effect is unknown. */
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

  const received = (text: string) => {
    const [what, id = '', group] = text.split(' ');
    if (what === 'done') done(id);
    else if (what === 'report') reported(id, JSON.parse(text.slice(`report ${id} `.length)));
    else if (Number(group) === lease.group && !closing.signal.aborted) void safely(id);
  };

  const missed = async () => {
    lookAgain();
    await carryOutAll();
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
      // Before this host begins a request: all rows in the state `taken` are of earlier hosts until then.
      await giveUpLost();
      stopListening = database.listen(news, { received, missed });
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
 * Makes functions that answer about servers of this group here, and send a request to the host of the group for other servers.
 * @param byDefaultMs the deadline of a request that gives none
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

/** The part of an error that the requester may see: the rest is in the log of the host that failed. */
function failureOf(error: unknown): z.output<typeof failureSchema> {
  if (error instanceof UserError) return { sentence: error.message };
  if (!(error instanceof CinnabarError)) return {};
  return {
    code: error.code,
    params: Object.fromEntries(Object.entries(error.params).map(([key, value]) => [key, String(value)])),
  };
}

/** Longer than any tool may take. When the process that runs a tool dies, its group's next host answers sooner. */
const CALLED_MS = 65 * 60_000;
/** Long enough for a group that moves, which is served again within seconds. */
const BEGUN_MS = 20_000;
const ABORTED_MS = 10_000;

const progress = objectWith<ToolProgress>('progress');

const ABORT: RequestKind<{ readonly id: string }, boolean> = {
  name: 'tools.abort',
  body: z.object({ id: z.string() }),
  answer: z.boolean(),
};

/** A request that has an id by which it can be aborted before it is answered. */
interface Named {
  readonly id: string;
}

interface AbortableOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
}

export type AbortableRequests = ReturnType<typeof createAbortableRequests>;

/**
 * Sends requests that may take minutes to other processes. An abort is sent to the process that executes the request; `ask` still resolves with its answer.
 */
export function createAbortableRequests(channel: ClusterChannel, log: Logger) {
  const running = new Map<string, AbortController>();
  channel.answer(ABORT, async ({ id }) => {
    const request = running.get(id);
    request?.abort();
    return request !== undefined;
  });

  return {
    answer<B extends Named, T>(kind: RequestKind<B, T>, handle: RequestHandler<B, T>): void {
      channel.answer(kind, async (body, ending, report) => {
        const abort = new AbortController();
        running.set(body.id, abort);
        try {
          return await handle(body, AbortSignal.any([abort.signal, ending]), report);
        } finally {
          running.delete(body.id);
        }
      });
    },
    /** @throws the errors of `ClusterChannel.ask`; the signal's reason when it was aborted before the call */
    async ask<B extends Named, T>(
      group: number,
      kind: RequestKind<B, T>,
      request: B,
      { signal, onProgress }: AbortableOptions,
    ): Promise<T> {
      signal?.throwIfAborted();
      const { id } = request;
      const abort = () =>
        void channel
          .ask(group, ABORT, { id }, { deadlineMs: ABORTED_MS })
          .catch((error: unknown) => log.debug('a request to another process goes on', { kind: kind.name, error }));
      signal?.addEventListener('abort', abort, { once: true });
      try {
        return await channel.ask(group, kind, request, {
          deadlineMs: CALLED_MS,
          begunMs: BEGUN_MS,
          onReport(sign) {
            const known = progress.safeParse(sign);
            if (known.success) onProgress?.(known.data);
          },
        });
      } finally {
        signal?.removeEventListener('abort', abort);
      }
    },
  };
}
