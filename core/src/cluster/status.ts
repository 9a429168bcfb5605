import { type ClusterStatus, z } from '@cinnabar/sdk';
import type { Connections } from '../storage/drivers/postgres/connection.js';
import { LASTS_MS, readView, takeoverReason } from './leases.js';

const MOST_TAKEOVERS = 10;
/** An older unfinished claim counts as abandoned. The limit also lets an index restrict the rows that are read. */
const STILL_RUNNING = "interval '15 minutes'";

const milliseconds = z.coerce.number();
const groupSchema = z.object({
  group: z.number(),
  name: z.string().nullable(),
  since: milliseconds.nullable(),
  renewed: milliseconds.nullable(),
  in_flight: milliseconds,
});
const takeoverSchema = z.object({
  group: z.number(),
  at: milliseconds,
  from: z.string().nullable(),
  to: z.string(),
  reason: takeoverReason,
});

/** The state of a cluster, as `!cluster` and `cinnabar cluster status` show it. @throws DatabaseError */
export async function readStatus(query: Connections['query'], schema: string): Promise<ClusterStatus> {
  const { members, leases } = await readView(query, schema);
  const details = await query(
    `SELECT l.group_number AS "group", coalesce(m.name, l.holder) AS name, extract(epoch FROM l.taken_at) * 1000 AS since,
       CASE WHEN l.until > '-infinity' THEN extract(epoch FROM now() - l.until) * 1000 + $1 END AS renewed,
       (SELECT count(*) FROM ${schema}.claims c WHERE c.group_number = l.group_number AND c.token = l.token AND c.done_at IS NULL
         AND c.claimed_at > now() - ${STILL_RUNNING}) AS in_flight
     FROM ${schema}.leases l LEFT JOIN ${schema}.members m ON m.id = l.holder ORDER BY l.group_number`,
    [LASTS_MS],
  );
  const takeovers = await query(
    `SELECT group_number AS "group", extract(epoch FROM at) * 1000 AS at, given_by AS "from", taken_by AS "to", reason FROM ${schema}.takeovers
     WHERE at > now() - interval '1 day' ORDER BY at DESC, group_number LIMIT ${MOST_TAKEOVERS}`,
  );
  return {
    processes: members
      .filter(({ isAlive }) => isAlive)
      .map(({ id, name, version, isDraining, isConnected, startedAt, endsWhenAsked }) => {
        const held = leases.filter(({ holder, isFree }) => holder === id && !isFree).map(({ group }) => group);
        const groups = held.sort((one, other) => one - other);
        return { name, version, isDraining, isConnected, startedAt, endsWhenAsked, groups };
      }),
    groups: z
      .array(groupSchema)
      .parse(details)
      .map(({ group, name, since, renewed, in_flight: inFlight }) => {
        const lease = leases.find((one) => one.group === group);
        const isHeld = lease?.holder !== undefined && !lease.isFree;
        return {
          group,
          holder: isHeld ? (name ?? undefined) : undefined,
          isServed: isHeld && lease.isReady,
          since: isHeld ? (since ?? undefined) : undefined,
          renewedMsAgo: isHeld ? Math.max(0, renewed ?? 0) : undefined,
          inFlight: isHeld ? inFlight : 0,
        };
      }),
    takeovers: z
      .array(takeoverSchema)
      .parse(takeovers)
      .map(({ from, ...takeover }) => ({ ...takeover, from: from ?? undefined })),
  };
}
