import type { SessionInfo } from '@discordjs/ws';
import type { GatewayGuildCreateDispatchData, GatewayReadyDispatchData } from 'discord.js';
import type { Database } from '../storage/drivers/postgres/database.js';
import type { WriteLease } from '../storage/drivers/postgres/writer.js';
import type { SharedClaims } from './claims.js';

/** A server in the form in which Discord sends it to a new session; `null` while Discord reports it as unavailable. */
export type StoredGuild = GatewayGuildCreateDispatchData | null;

/** Everything that another process needs to resume a shard. */
export interface StoredShard {
  readonly session: SessionInfo;
  /** The intents that it identified with. */
  readonly intents: number;
  /** Discord's READY payload, without its servers. */
  readonly ready: GatewayReadyDispatchData;
  readonly guilds: ReadonlyMap<string, StoredGuild>;
}

/** The changes of a shard. */
export interface ShardChange {
  readonly shardId: number;
  /** The session, with the sequence number of the last event that was processed; `undefined` when there is none to resume. */
  readonly session: SessionInfo | undefined;
  /** Set together with `ready`. */
  readonly intents: number | undefined;
  /** Set when a new session has begun. */
  readonly ready: GatewayReadyDispatchData | undefined;
}

/** Sessions of shards with the servers in the cache of discord.js, for the process that resumes them. */
export interface SessionStore {
  /** The stored state of the given shards whose session was opened with the same number of shards. */
  load(shardIds: readonly number[]): Promise<ReadonlyMap<number, StoredShard>>;
  /** The stored state of the given servers, without unknown ones. */
  guilds(ids: readonly string[]): Promise<ReadonlyMap<string, StoredGuild>>;
  /** Ids of the servers that are stored for a shard. */
  guildsOf(shardId: number): Promise<readonly string[]>;
  /**
   * Writes all changes in one transaction, after the requests in these events were claimed. When there are very many servers, as after a new session, most are
   * written before the transaction: those of a large bot have some hundred MB.
   * @param guilds by id; `undefined` for one that the bot is not in any more
   * @throws CINNABAR_LEASE_LOST, DatabaseError
   */
  save(shards: readonly ShardChange[], guilds: ReadonlyMap<string, GuildChange>): Promise<void>;
}

export interface GuildChange {
  readonly shardId: number;
  readonly guild: StoredGuild | undefined;
}

/** Servers written by one statement. Each is some 30 KB, and serialising them blocks the process. */
const AT_ONCE = 50;

export function createSessionStore(
  database: Pick<Database, 'schema' | 'query' | 'writer'>,
  lease: WriteLease,
  shardCount: number,
  claims: Pick<SharedClaims, 'begun'>,
): SessionStore {
  const sessions = `${database.schema}.shard_sessions`;
  const snapshots = `${database.schema}.guild_snapshots`;
  const { write } = database.writer(lease);

  const changesOf = (guilds: readonly (readonly [string, GuildChange])[], bind: (value: unknown) => string) => {
    const gone = guilds.filter(([, { guild }]) => guild === undefined).map(([id]) => id);
    const kept = guilds.flatMap(([id, { shardId, guild }]) => {
      if (guild === undefined) return [];
      // Characters that PostgreSQL cannot store as text stay escaped. Each is a separate value: in an array, each quote would be escaped once more.
      const body = guild === null ? null : JSON.stringify(guild);
      return `(${bind(id)}::bigint, ${bind(shardId)}::int, ${bind(body)}::json)`;
    });
    return [
      gone.length === 0 ? '' : `gone AS (DELETE FROM ${snapshots} USING fence WHERE guild_id = ANY(${bind(gone)})), `,
      kept.length === 0
        ? ''
        : `kept AS (INSERT INTO ${snapshots} (guild_id, shard, body)
             SELECT one.id, one.shard, one.body FROM fence, (VALUES ${kept.join(', ')}) AS one (id, shard, body)
             ON CONFLICT (guild_id) DO UPDATE SET shard = EXCLUDED.shard, body = EXCLUDED.body), `,
    ].join('');
  };

  return {
    async load(shardIds) {
      const rows = await database.query(
        `SELECT shard, session_id, resume_url, sequence, intents, ready::text AS ready FROM ${sessions}
         WHERE shard = ANY($1) AND shard_count = $2 AND session_id IS NOT NULL AND ready IS NOT NULL`,
        [shardIds, shardCount],
      );
      const stored = await database.query(
        `SELECT shard, guild_id, body::text AS body FROM ${snapshots} WHERE shard = ANY($1)`,
        [rows.map(({ shard }) => shard)],
      );
      return new Map(
        rows.map(({ shard, session_id: sessionId, resume_url: resumeURL, sequence, intents, ready }) => {
          const guilds = stored.filter((row) => row.shard === shard).map(guildIn);
          const session = {
            sessionId: String(sessionId),
            resumeURL: String(resumeURL),
            sequence: Number(sequence),
            shardId: Number(shard),
            shardCount,
          };
          return [
            session.shardId,
            { session, intents: Number(intents), ready: readyIn(ready), guilds: new Map(guilds) },
          ];
        }),
      );
    },
    async guilds(ids) {
      const sql = `SELECT guild_id, body::text AS body FROM ${snapshots} WHERE guild_id = ANY($1)`;
      return new Map((await database.query(sql, [ids])).map(guildIn));
    },
    async guildsOf(shardId) {
      const rows = await database.query(`SELECT guild_id FROM ${snapshots} WHERE shard = $1`, [shardId]);
      return rows.map(({ guild_id: id }) => String(id));
    },
    async save(shards, guilds) {
      await claims.begun();
      const changed = [...guilds];
      const last = Math.max(0, changed.length - AT_ONCE);
      for (let at = 0; at < last; at += AT_ONCE) {
        const { values, bind } = createValues();
        const some = changesOf(changed.slice(at, Math.min(at + AT_ONCE, last)), bind);
        await write(`${some}done AS (SELECT 1 AS result FROM fence)`, values);
      }
      const { values, bind } = createValues();
      const rest = changesOf(changed.slice(last), bind);
      await write(
        `${rest}done AS (INSERT INTO ${sessions} AS old (shard, shard_count, session_id, resume_url, sequence, intents, ready)
           SELECT one.shard, ${bind(shardCount)}::int, one.session_id, one.resume_url, one.sequence, one.intents, one.ready
           FROM fence, json_to_recordset(${bind(JSON.stringify(shards.map(rowOf)))}) AS one (shard int, session_id text, resume_url text, sequence bigint, intents int, ready json)
           ON CONFLICT (shard) DO UPDATE SET shard_count = EXCLUDED.shard_count, session_id = EXCLUDED.session_id,
             resume_url = EXCLUDED.resume_url, sequence = EXCLUDED.sequence,
             intents = coalesce(EXCLUDED.intents, old.intents), ready = coalesce(EXCLUDED.ready, old.ready), saved_at = now()
           RETURNING shard AS result)`,
        values,
      );
    },
  };
}

/** The values of a statement, numbered in order of use. */
function createValues() {
  const values: unknown[] = [];
  return { values, bind: (value: unknown) => `$${values.push(value)}` };
}

function rowOf({ shardId, session, intents, ready }: ShardChange) {
  return {
    shard: shardId,
    session_id: session?.sessionId ?? null,
    resume_url: session?.resumeURL ?? null,
    sequence: session?.sequence ?? 0,
    intents: intents ?? null,
    ready: ready ?? null,
  };
}

function readyIn(text: unknown): GatewayReadyDispatchData {
  const ready: GatewayReadyDispatchData = JSON.parse(String(text));
  return ready;
}

function guildIn({ guild_id: id, body }: Readonly<Record<string, unknown>>): readonly [string, StoredGuild] {
  const guild: StoredGuild = typeof body === 'string' ? JSON.parse(body) : null;
  return [String(id), guild];
}
