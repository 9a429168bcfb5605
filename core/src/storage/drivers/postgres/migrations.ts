import { CinnabarError } from '@cinnabar/sdk';
import type { Connections } from './connection.js';
import type { Database } from './database.js';
import { decodePath } from './postgres-driver.js';

/** One migration of the tables. */
interface Migration {
  readonly version: number;
  /**
   * The lowest version whose code works with the tables after this step. A step that only adds keeps the previous value. A step that removes something raises
   * it, and is released one version after the code has stopped using what is removed.
   */
  readonly oldestCode: number;
  readonly sql: (schema: string) => string;
}

const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    oldestCode: 1,
    sql: (schema) => `
      CREATE SEQUENCE ${schema}.revisions;
      -- json, not jsonb: it keeps the order of keys and every character that a member can write.
      CREATE TABLE ${schema}.documents (
        path text COLLATE "C" PRIMARY KEY,
        body json NOT NULL,
        -- What the last write of the program has left, once somebody else changed the body; NULL while they are the same.
        last_good json,
        revision bigint NOT NULL DEFAULT nextval('${schema}.revisions')
      );
      CREATE TABLE ${schema}.copies (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        path text COLLATE "C" NOT NULL,
        label text NOT NULL,
        body json NOT NULL,
        made_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX copies_path ON ${schema}.copies (path);
      CREATE TABLE ${schema}.journal_lines (
        path text COLLATE "C" NOT NULL,
        id bigint GENERATED ALWAYS AS IDENTITY,
        line text NOT NULL,
        PRIMARY KEY (path, id)
      );
      -- A change by hand, which leaves the revision as it was, gets one too, and the program's last content stays beside it.
      CREATE FUNCTION ${schema}.stamp() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF NEW.revision = OLD.revision AND NEW.body::text <> OLD.body::text THEN
            NEW.last_good := coalesce(OLD.last_good, OLD.body);
            NEW.revision := nextval('${schema}.revisions');
          END IF;
          RETURN NEW;
        END $$;
      CREATE TRIGGER stamp BEFORE UPDATE ON ${schema}.documents FOR EACH ROW EXECUTE FUNCTION ${schema}.stamp();
      -- '<revision> <path>', or '- <path>' for a document that is gone.
      CREATE FUNCTION ${schema}.announce() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF TG_OP = 'DELETE' THEN PERFORM pg_notify('${schema}', '- ' || OLD.path);
          ELSE PERFORM pg_notify('${schema}', NEW.revision || ' ' || NEW.path);
          END IF;
          RETURN NULL;
        END $$;
      CREATE TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON ${schema}.documents
        FOR EACH ROW EXECUTE FUNCTION ${schema}.announce();`,
  },
  {
    version: 2,
    oldestCode: 1,
    sql: (schema) => `
      -- One row: how the servers are divided, since the cluster's first start.
      CREATE TABLE ${schema}.cluster (
        single boolean PRIMARY KEY DEFAULT true CHECK (single),
        groups int NOT NULL,
        shard_count int NOT NULL
      );
      -- A row for each process of the cluster, from its start until it has been silent for a while.
      CREATE TABLE ${schema}.members (
        id text PRIMARY KEY,
        name text NOT NULL,
        version text NOT NULL,
        started_at timestamptz NOT NULL DEFAULT now(),
        seen_at timestamptz NOT NULL DEFAULT now(),
        draining boolean NOT NULL DEFAULT false,
        -- Somebody wants it to give back what it holds, and to take nothing.
        drain_asked boolean NOT NULL DEFAULT false,
        state json NOT NULL DEFAULT '{}'
      );
      -- A row for each group. Who takes a lease raises its token; who renews it does not.
      CREATE TABLE ${schema}.leases (
        group_number int PRIMARY KEY,
        token bigint NOT NULL DEFAULT 0,
        holder text,
        until timestamptz NOT NULL DEFAULT '-infinity',
        taken_at timestamptz,
        -- When the holder began to serve it.
        ready_at timestamptz,
        -- The member that is to have it next; the holder hands it over.
        wanted_by text
      );`,
  },
  {
    version: 3,
    oldestCode: 1,
    sql: (schema) => `
      -- The server that a document belongs to; 0: none; NULL: not known, since it is a channel's or role's.
      ALTER TABLE ${schema}.documents ADD COLUMN guild_id bigint;
      ALTER TABLE ${schema}.copies ADD COLUMN guild_id bigint;
      CREATE FUNCTION ${schema}.guild_of(path text, body json) RETURNS bigint LANGUAGE plpgsql AS $$
        DECLARE
          kind text := split_part(path, '/', 2);
          scope text := split_part(path, '/', 3);
          named text;
        BEGIN
          IF kind IN ('settings', 'collections') AND scope IN ('channel', 'role') THEN RETURN NULL; END IF;
          IF kind IN ('settings', 'collections') AND scope IN ('guild', 'member') THEN
            named := split_part(split_part(path, '/', CASE kind WHEN 'settings' THEN 4 ELSE 5 END), ':', 1);
          ELSIF body::text LIKE '%"guildId"%' THEN
            named := coalesce(body -> 'data' ->> 'guildId', body -> 'data' -> 'actor' ->> 'guildId');
          END IF;
          RETURN CASE WHEN named ~ '^[0-9]{1,19}$' THEN named::bigint ELSE 0 END;
        EXCEPTION WHEN OTHERS THEN
          -- Text that PostgreSQL cannot hold is in it, or a number that is too great.
          RETURN 0;
        END $$;
      ALTER TABLE ${schema}.documents DISABLE TRIGGER USER;
      UPDATE ${schema}.documents SET guild_id = ${schema}.guild_of(path, body);
      ALTER TABLE ${schema}.documents ENABLE TRIGGER USER;
      UPDATE ${schema}.copies SET guild_id = ${schema}.guild_of(path, body);
      DROP FUNCTION ${schema}.guild_of;
      CREATE INDEX documents_guild ON ${schema}.documents (guild_id);
      -- '<revision>@<server>@<writer> <path>', with '-' as the revision of a document that is gone.
      CREATE OR REPLACE FUNCTION ${schema}.announce() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
          writer text := coalesce(current_setting('cinnabar.writer', true), '');
        BEGIN
          -- Nobody keeps others in memory, and announcements are made one after another.
          IF split_part(coalesce(NEW.path, OLD.path), '/', 2) NOT IN ('settings', 'collections') THEN RETURN NULL; END IF;
          IF TG_OP = 'DELETE' THEN PERFORM pg_notify('${schema}', format('-@%s@%s %s', OLD.guild_id, writer, OLD.path));
          ELSE PERFORM pg_notify('${schema}', format('%s@%s@%s %s', NEW.revision, NEW.guild_id, writer, NEW.path));
          END IF;
          RETURN NULL;
        END $$;`,
  },
  {
    version: 4,
    oldestCode: 1,
    sql: (schema) => `
      -- How far each shard of a cluster has come, for the process that goes on with it.
      CREATE TABLE ${schema}.shard_sessions (
        shard int PRIMARY KEY,
        shard_count int NOT NULL,
        session_id text,
        resume_url text,
        sequence bigint NOT NULL,
        -- What it was opened with.
        intents int,
        ready json,
        saved_at timestamptz NOT NULL DEFAULT now()
      );
      -- Servers as Discord would send them to a new session; no body: not available.
      CREATE TABLE ${schema}.guild_snapshots (
        guild_id bigint PRIMARY KEY,
        shard int NOT NULL,
        body json
      );
      -- What members asked for and a process has begun, by the id of their message or interaction.
      CREATE TABLE ${schema}.claims (
        id bigint PRIMARY KEY,
        group_number int NOT NULL,
        token bigint NOT NULL,
        guild_id bigint,
        channel_id bigint,
        user_id bigint NOT NULL,
        claimed_at timestamptz NOT NULL DEFAULT now(),
        done_at timestamptz
      );
      CREATE INDEX claims_of_group ON ${schema}.claims (group_number, claimed_at);
      CREATE INDEX guild_snapshots_shard ON ${schema}.guild_snapshots (shard);`,
  },
  {
    version: 5,
    oldestCode: 1,
    sql: (schema) => `
      -- What Discord admits to the bot as a whole in a span of time, and how much of that was used. Nothing is lost with it.
      CREATE UNLOGGED TABLE ${schema}.limits (
        name text PRIMARY KEY,
        capacity int NOT NULL,
        used int NOT NULL,
        -- By the last who took some.
        granted int NOT NULL,
        until timestamptz NOT NULL
      );`,
  },
  {
    version: 6,
    oldestCode: 1,
    sql: (schema) => `
      -- What a process of a cluster asks the host of a group for: asked, taken, done; void when nobody had taken it in time.
      CREATE TABLE ${schema}.requests (
        id uuid PRIMARY KEY,
        group_number int NOT NULL,
        kind text NOT NULL,
        body json NOT NULL,
        deadline timestamptz NOT NULL,
        state text NOT NULL DEFAULT 'asked',
        answer json,
        failure json
      );
      CREATE INDEX requests_open ON ${schema}.requests (group_number) WHERE state = 'asked';`,
  },
  {
    version: 7,
    oldestCode: 1,
    sql: (schema) => `
      -- With which an interaction that was begun can still be answered, for 15 minutes, until it is done.
      ALTER TABLE ${schema}.claims ADD COLUMN interaction_token text;`,
  },
  {
    version: 8,
    oldestCode: 1,
    sql: (schema) => `
      -- The server that a journal belongs to, where its path does not say so; 0: none; NULL: the path says it.
      ALTER TABLE ${schema}.journal_lines ADD COLUMN guild_id bigint;`,
  },
  {
    version: 9,
    oldestCode: 1,
    sql: (schema) => `
      -- By whom a lease was given back, and why, until it is taken.
      ALTER TABLE ${schema}.leases ADD COLUMN released_by text, ADD COLUMN release_reason text;
      -- When a group went from one process to another, and why; for some days.
      CREATE TABLE ${schema}.takeovers (
        group_number int NOT NULL,
        token bigint NOT NULL,
        at timestamptz NOT NULL DEFAULT now(),
        given_by text,
        taken_by text NOT NULL,
        reason text NOT NULL,
        PRIMARY KEY (group_number, token)
      );`,
  },
  {
    version: 10,
    oldestCode: 1,
    sql: (schema) => `
      -- An owner wants all processes to end: how, and since when.
      ALTER TABLE ${schema}.members ADD COLUMN end_asked text, ADD COLUMN end_asked_at timestamptz;`,
  },
];

const SCHEMA_VERSION = Math.max(...MIGRATIONS.map(({ version }) => version));

/** The state of the tables. */
interface SchemaState {
  /** 0 when there are none yet. */
  readonly version: number;
  readonly oldestCode: number;
}

export async function schemaState(query: Connections['query'], schema: string): Promise<SchemaState> {
  const [found] = await query('SELECT to_regclass($1) IS NOT NULL AS there', [`${schema}.migrations`]);
  if (found?.there !== true) return { version: 0, oldestCode: 0 };
  const [row] = await query(
    `SELECT coalesce(max(version), 0) AS version, coalesce(max(oldest_code), 0) AS oldest FROM ${schema}.migrations`,
  );
  return { version: Number(row?.version), oldestCode: Number(row?.oldest) };
}

/** @throws CINNABAR_DATA_UNUSABLE when a later version has changed the tables in a way that this one does not support */
export function assertUsable({ version, oldestCode }: SchemaState, schema: string): void {
  if (oldestCode <= SCHEMA_VERSION) return;
  const detail = `its tables have version ${version}, and this version of Cinnabar knows ${SCHEMA_VERSION}`;
  const remedy = 'Install the version that ran last, or a newer one.';
  throw new CinnabarError('CINNABAR_DATA_UNUSABLE', { folder: `the database schema ${schema}`, detail, remedy });
}

/**
 * Migrates the tables, if necessary. A lock makes processes that start together do this one after another.
 * @param until the last version to migrate to, for tests of earlier programs
 */
export async function migrate(connections: Connections, schema: string, until = SCHEMA_VERSION): Promise<void> {
  const before = await schemaState(connections.query, schema);
  assertUsable(before, schema);
  if (before.version >= until) return;
  await connections.transaction(async (query) => {
    await query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`cinnabar migrations ${schema}`]);
    // Checked first: without the right to create schemas, CREATE SCHEMA IF NOT EXISTS fails for an existing one, too.
    const [found] = await query('SELECT to_regnamespace($1) IS NOT NULL AS there', [schema]);
    if (found?.there !== true) await query(`CREATE SCHEMA ${schema}`);
    await query(
      `CREATE TABLE IF NOT EXISTS ${schema}.migrations
         (version int PRIMARY KEY, oldest_code int NOT NULL, at timestamptz NOT NULL DEFAULT now())`,
    );
    const { version: reached } = await schemaState(query, schema);
    for (const { version, oldestCode, sql } of MIGRATIONS.filter(
      (one) => one.version > reached && one.version <= until,
    )) {
      await query(sql(schema));
      await query(`INSERT INTO ${schema}.migrations (version, oldest_code) VALUES ($1, $2)`, [version, oldestCode]);
    }
  });
}

/** Number of concurrent requests to Discord. */
const AT_ONCE = 5;

/**
 * Sets the server of documents of channels and roles that were written without it, such as those copied from files. Until then they belong to the first host of
 * a cluster.
 * @param guildOf returns `null` for a channel of no server, and for one that was deleted
 * @returns the number of documents that had no server, including those of other scopes, which are not updated
 */
export async function placeDocuments(
  { schema, query }: Pick<Database, 'schema' | 'query'>,
  guildOf: (kind: 'channel' | 'role', id: string) => Promise<string | null>,
): Promise<number> {
  const rows = await query(
    `SELECT path FROM ${schema}.documents WHERE guild_id IS NULL UNION SELECT path FROM ${schema}.copies WHERE guild_id IS NULL`,
  );
  const places = new Map<string, { kind: 'channel' | 'role'; id: string; paths: string[] }>();
  for (const { path } of rows) {
    const [, , kind, ...rest] = decodePath(String(path));
    const id = rest.at(-1);
    if (id === undefined || (kind !== 'channel' && kind !== 'role')) continue;
    const place = places.get(`${kind} ${id}`) ?? { kind, id, paths: [] };
    place.paths.push(String(path));
    places.set(`${kind} ${id}`, place);
  }
  const waiting = [...places.values()];
  const work = async () => {
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      const guildId = (await guildOf(place.kind, place.id)) ?? '0';
      for (const table of ['documents', 'copies'])
        await query(`UPDATE ${schema}.${table} SET guild_id = $1 WHERE guild_id IS NULL AND path = ANY($2)`, [
          guildId,
          place.paths,
        ]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return rows.length;
}
