import { randomUUID } from 'node:crypto';
import { CinnabarError, type Clock, ERRORS, type ErrorCode, type Logger, sleep, UserError, z } from '@cinnabar/sdk';
import type { Connections } from '../storage/drivers/postgres/connection.js';
import type { ClusterChannel, RequestKind } from './assignment.js';

/** A NOTIFY may be missed: the requester polls for the answer, first after this time, then after doubled times up to `LATER_LOOK_MS`. */
const LOOK_MS = 1_000;
const LATER_LOOK_MS = 8_000;

/** The part of an error that the requester may see. */
export const failureSchema = z.object({
  code: z.string().optional(),
  params: z.record(z.string(), z.string()).optional(),
  /** The text of a UserError, which members may read. */
  sentence: z.string().optional(),
});

const endSchema = z.object({ state: z.string(), answer: z.unknown(), failure: failureSchema.nullable() });

/** The table of requests. */
export const requestsOf = (schema: string): string => `${schema}.requests`;
/** The NOTIFY channel for requests. */
export const newsOfRequests = (schema: string): string => `${schema}_requests`;

interface Dependencies {
  readonly query: Connections['query'];
  readonly schema: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Sends requests to the hosts of a cluster, also from outside of it: needs no group, and polls for the answers when it gets no notifications. */
export function createRequester({ query, schema, clock, log }: Dependencies) {
  const requests = requestsOf(schema);
  const waiting = new Map<string, () => void>();
  const reported = new Map<string, (sign: unknown) => void>();

  const endOf = async (id: string) => {
    const [row] = await query(`SELECT state, answer, failure FROM ${requests} WHERE id = $1`, [id]);
    return row === undefined ? undefined : endSchema.parse(row);
  };

  /** Deletes a request. @returns whether no host had begun it: then none will */
  const withdraw = async (id: string) =>
    (await query(`DELETE FROM ${requests} WHERE id = $1 AND state = 'asked' RETURNING id`, [id])).length > 0;

  const ask: ClusterChannel['ask'] = async (group, kind, body, options) => {
    const { deadlineMs, begunMs = deadlineMs, signal, onReport } = options;
    const id = randomUUID();
    const [until, begunBy] = [clock.now() + deadlineMs, clock.now() + begunMs];
    if (onReport !== undefined) reported.set(id, onReport);
    await query(
      `WITH asked AS (INSERT INTO ${requests} (id, group_number, kind, body, deadline)
         VALUES ($1, $2, $3, $4, now() + $5 * interval '1 ms') RETURNING id)
       SELECT pg_notify($6, $7) FROM asked`,
      [
        id,
        group,
        kind.name,
        JSON.stringify(kind.body.parse(body)),
        begunMs,
        newsOfRequests(schema),
        `ask ${id} ${group}`,
      ],
    );
    let lookMs = LOOK_MS;
    try {
      for (;;) {
        signal?.throwIfAborted();
        const done = new AbortController();
        waiting.set(id, () => done.abort());
        const end = await endOf(id);
        if (end?.state === 'done') return answerOf(kind, end);
        const now = clock.now();
        const isLate = end?.state === 'asked' && now >= begunBy;
        if (isLate && (await withdraw(id)))
          throw new CinnabarError('CINNABAR_CLUSTER_NOT_SERVED', { group: String(group) });
        if (now >= until) throw new CinnabarError('CINNABAR_CLUSTER_NO_ANSWER', { group: String(group) });
        const next = end?.state === 'asked' && !isLate ? begunBy : until;
        await sleep(clock, Math.min(lookMs, next - now), done.signal);
        lookMs = Math.min(2 * lookMs, LATER_LOOK_MS);
      }
    } finally {
      waiting.delete(id);
      reported.delete(id);
      // An answer that was read may contain personal data, and a request that was not begun must not start any more. One that was begun may still finish.
      await query(`DELETE FROM ${requests} WHERE id = $1 AND state <> 'taken'`, [id]).catch((error: unknown) =>
        log.debug('a request stays until it is old', { error }),
      );
    }
  };

  return {
    ask,
    /** Called with the id of a notification that a request is done. */
    done: (id: string) => waiting.get(id)?.(),
    /** Called with a notification about the progress of a request. */
    report: (id: string, sign: unknown) => reported.get(id)?.(sign),
    /** Polls for all answers at once, after notifications may have been missed. */
    lookAgain() {
      for (const look of waiting.values()) look();
    },
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
