import { randomBytes } from 'node:crypto';
import type { JournalEntry, JournalMedium } from '@cinnabar/sdk';
import { EVERYTHING, type Partition } from '../../../gateway/partition.js';
import {
  DamagedDocument,
  type DocumentChange,
  type DocumentPath,
  type Driver,
  decodeStored,
  guildOfDocument,
  guildOfJournal,
  nameOf,
  OutdatedDocument,
  type SharedListener,
  type Stored,
  type StoredContents,
} from '../../driver.js';
import type { Connections, Row } from './connection.js';
import type { Database } from './database.js';
import type { WriteLease, Writer } from './writer.js';

export interface DocumentDriverOptions {
  /** The lease of all writes; without one, the database accepts each write. */
  readonly lease?: WriteLease;
  /** The servers whose documents and journals are listed; all by default. Access by path is not limited. */
  readonly partition?: Partition;
}

/**
 * A driver with documents and journals in tables of one schema. A row's primary key is the document's whole path, so that the documents below a prefix are one
 * range of the index.
 */
export function createDocumentDriver(
  database: Database,
  { lease, partition = EVERYTHING }: DocumentDriverOptions = {},
): Driver {
  const { schema, query } = database;
  const id = randomBytes(6).toString('hex');
  const { write, transaction } = database.writer(lease, id);
  const listeners = new Set<SharedListener>();
  /** The greatest revision up to which the caches are known to be current. */
  let followed = 0n;
  /** The value of `followed` when the connection was lost. */
  let gapFrom: bigint | undefined;
  const changeOf = (path: string, revision: string | undefined, guild: string, writer: string): DocumentChange => {
    const isOwn = partition.owns(guild === '' ? null : namedBy(guild));
    return { path: decodePath(path), revision, isEcho: writer === id, isOwn };
  };
  const stopListening = database.listen(schema, {
    received(payload) {
      const space = payload.indexOf(' ');
      const [revision = '-', guild = '', writer = ''] = payload.slice(0, space).split('@');
      const isGone = revision === '-';
      if (!isGone && BigInt(revision) > followed) followed = BigInt(revision);
      const change = changeOf(payload.slice(space + 1), isGone ? undefined : revision, guild, writer);
      for (const { changed } of listeners) changed(change);
    },
    lost() {
      gapFrom ??= followed;
    },
    async missed() {
      await Promise.all([...listeners].map((listener) => listener.missed()));
      gapFrom = undefined;
    },
  });
  const documents = `${schema}.documents`;
  const copies = `${schema}.copies`;

  const readRow = createBatchedReads(async (paths) => {
    const rows = await query(`SELECT path, body::text AS body, revision FROM ${documents} WHERE path = ANY($1)`, [
      paths,
    ]);
    return new Map(rows.map((row) => [textIn(row, 'path'), row]));
  });
  const readRevision = async (path: DocumentPath) => {
    const row = await readRow(encodePath(path));
    if (row === undefined) return { stored: undefined, revision: undefined };
    return { stored: decodeStored(textIn(row, 'body')), revision: textIn(row, 'revision') };
  };

  /** The condition for listed rows. */
  const own = `coalesce((guild_id >> 22) % ${partition.groups}, 0) = ${partition.group}`;

  /** A statement that copies a document under a label. */
  const copyOf = (fence: string) =>
    `INSERT INTO ${copies} (path, label, body, guild_id) SELECT path, $2, body, guild_id FROM ${documents}${fence} WHERE path = $1 RETURNING id AS result`;
  const placeOf = (path: DocumentPath, label: string, id: string) => `${encodePath(path)}.${label}-${id} (${copies})`;

  return {
    async open() {
      await database.open();
      const [row] = await query(`SELECT last_value FROM ${schema}.revisions`);
      if (row !== undefined) followed = BigInt(textIn(row, 'last_value'));
    },

    read: async (path) => (await readRevision(path)).stored,

    async write(path, stored) {
      await write(
        `done AS (INSERT INTO ${documents} AS known (path, body, guild_id) SELECT $1, $2::json, $3 FROM fence
           ON CONFLICT (path) DO UPDATE SET body = EXCLUDED.body, last_good = NULL, revision = EXCLUDED.revision,
             guild_id = coalesce(EXCLUDED.guild_id, known.guild_id)
           RETURNING revision AS result)`,
        [encodePath(path), encodeBody(stored), guildIn(path, stored)],
      );
    },

    async delete(path) {
      await write(`done AS (DELETE FROM ${documents} USING fence WHERE path = $1 RETURNING path AS result)`, [
        encodePath(path),
      ]);
    },

    async erase(path) {
      await write(
        `gone AS (DELETE FROM ${copies} USING fence WHERE path = $1),
         done AS (DELETE FROM ${documents} USING fence WHERE path = $1 RETURNING path AS result)`,
        [encodePath(path)],
      );
    },

    async list(prefix, whose = 'own') {
      const sql = (where: string) =>
        `SELECT path FROM ${documents} ${where} UNION SELECT path FROM ${copies} ${where} ORDER BY path`;
      const [below, values] = prefix.length === 0 ? ['', []] : ['path >= $1 AND path < $2', rangeBelow(prefix)];
      const conditions = [below, whose === 'all' || partition.groups === 1 ? '' : own].filter((one) => one !== '');
      const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
      return (await query(sql(where), values)).map((row) => decodePath(textIn(row, 'path')));
    },

    setAside: (path) =>
      transaction(async (on) => {
        const id = encodePath(path);
        const [row] = await on(
          `SELECT last_good IS NULL OR last_good::text = body::text AS is_last FROM ${documents} WHERE path = $1 FOR UPDATE`,
          [id],
        );
        if (row === undefined) return undefined;
        const [copy] = await on(copyOf(''), [id, 'corrupt']);
        if (row.is_last === true) await on(`DELETE FROM ${documents} WHERE path = $1`, [id]);
        else {
          const sql = `UPDATE ${documents} SET body = last_good, last_good = NULL, revision = nextval('${schema}.revisions') WHERE path = $1`;
          await on(sql, [id]);
        }
        return placeOf(path, 'corrupt', copy === undefined ? '' : textIn(copy, 'result'));
      }),

    async keep(path, label) {
      const copy = await write(`done AS (${copyOf(', fence')})`, [encodePath(path), label]);
      if (copy === undefined) throw new DamagedDocument('there is nothing to keep');
      return placeOf(path, label, copy);
    },

    journal: (path, guildId) =>
      journalTable({
        path: encodePath(guildId === undefined ? journalOf(path, partition) : path),
        guild: guildId === undefined ? null : columnOf(guildId),
        isWhole: partition.groups === 1,
        schema,
        query,
        write,
      }),

    async journals(prefix = []) {
      const [where, values] = prefix.length === 0 ? ['', []] : ['WHERE path >= $1 AND path < $2', rangeBelow(prefix)];
      const rows = await query(
        `SELECT path, max(guild_id)::text AS guild, sum(pg_column_size(line)) AS bytes FROM ${schema}.journal_lines ${where}
         GROUP BY path ORDER BY path`,
        values,
      );
      const found = new Map<string, JournalEntry>();
      for (const row of rows) {
        const entry = entryOf(row, partition);
        if (entry === undefined) continue;
        const id = encodePath(entry.path);
        found.set(id, { ...entry, bytes: entry.bytes + (found.get(id)?.bytes ?? 0) });
      }
      return [...found.values()];
    },

    async eraseJournals(plugin) {
      const [from, to] = rangeBelow([plugin]);
      await write(
        `done AS (DELETE FROM ${schema}.journal_lines USING fence WHERE path >= $1 AND path < $2 RETURNING path AS result)`,
        [from, to],
      );
    },

    frozen: (task) =>
      database.transaction(async (on) => {
        await on('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
        await on(PATIENT);
        return task(createDocumentDriver({ ...database, query: on, listen: () => () => undefined }));
      }),

    replaceAll: (contents) =>
      transaction(async (on) => {
        await on(PATIENT);
        for (const table of ['documents', 'copies', 'journal_lines']) await on(`DELETE FROM ${schema}.${table}`);
        return insertAll(on, schema, contents);
      }),

    shared: {
      read: readRevision,
      async replace(path, stored, revision) {
        const [changes, values] = replacement(documents, schema, path, stored, revision);
        const now = await write(changes, values);
        if (now === undefined) throw new OutdatedDocument();
        return stored === undefined ? undefined : now;
      },
      async revisions(paths) {
        const rows = await query(`SELECT path, revision FROM ${documents} WHERE path = ANY($1)`, [
          paths.map(encodePath),
        ]);
        const found = new Map(rows.map((row) => [textIn(row, 'path'), textIn(row, 'revision')]));
        return paths.map((path) => found.get(encodePath(path)));
      },
      async missedBelow(prefixes) {
        if (followed === 0n) return [];
        // Goes back by the number of possible concurrent changes, since revisions are not committed in the order in which they are assigned.
        const since = (gapFrom ?? followed) - BigInt(MOST_AT_ONCE);
        const ranges = prefixes.map(rangeBelow);
        const rows = await query(
          `SELECT path, revision, coalesce(guild_id::text, '') AS guild FROM unnest($2::text[], $3::text[]) AS below (low, high)
           JOIN ${documents} ON path >= low COLLATE "C" AND path < high COLLATE "C" WHERE revision > $1`,
          [String(since), ranges.map(([low]) => low), ranges.map(([, high]) => high)],
        );
        return rows.map((row) => changeOf(textIn(row, 'path'), textIn(row, 'revision'), textIn(row, 'guild'), ''));
      },
      listen(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },

    async close() {
      stopListening();
    },
  };
}

/** Switches off the time limits of a transaction, which would end a long operation like one of a suspended process. */
const PATIENT = `SELECT set_config('idle_in_transaction_session_timeout', '0', true), set_config('statement_timeout', '0', true)`;
const INSERTED_AT_ONCE = 200;

async function insertAll(
  on: Connections['query'],
  schema: string,
  contents: StoredContents,
): Promise<readonly string[]> {
  const damaged: string[] = [];
  const read = async (path: DocumentPath): Promise<Stored | undefined> => {
    try {
      return await contents.read(path);
    } catch (error) {
      if (!(error instanceof DamagedDocument)) throw error;
      damaged.push(nameOf(path));
      return undefined;
    }
  };
  const paths = await contents.list([]);
  for (let at = 0; at < paths.length; at += INSERTED_AT_ONCE) {
    const batch = await Promise.all(
      paths.slice(at, at + INSERTED_AT_ONCE).map(async (path) => ({ path, stored: await read(path) })),
    );
    const rows = batch.flatMap(({ path, stored }) =>
      stored === undefined ? [] : [{ path: encodePath(path), body: encodeBody(stored), guild: guildIn(path, stored) }],
    );
    await on(
      `INSERT INTO ${schema}.documents (path, body, guild_id)
         SELECT path, body::json, guild FROM unnest($1::text[], $2::text[], $3::bigint[]) AS new (path, body, guild)`,
      [rows.map(({ path }) => path), rows.map(({ body }) => body), rows.map(({ guild }) => guild)],
    );
  }
  for (const { path } of await contents.journals()) {
    const lines = linesIn(await contents.journal(path).read());
    await on(
      `INSERT INTO ${schema}.journal_lines (path, line)
         SELECT $1, line FROM unnest($2::text[]) WITH ORDINALITY AS new (line, at) ORDER BY at`,
      [encodePath(path), lines],
    );
  }
  return damaged;
}

/** Reads everything that is requested in one turn with one query: a start reads the documents of a thousand servers. */
function createBatchedReads(readAll: (paths: readonly string[]) => Promise<ReadonlyMap<string, Row>>) {
  let batch: { readonly paths: Set<string>; readonly found: Promise<ReadonlyMap<string, Row>> } | undefined;
  return async (path: string): Promise<Row | undefined> => {
    if (batch === undefined) {
      const paths = new Set<string>();
      const found = Promise.resolve().then(() => {
        batch = undefined;
        return readAll([...paths]);
      });
      batch = { paths, found };
    }
    batch.paths.add(path);
    return (await batch.found).get(path);
  };
}

/** A statement that changes a document if it has the given revision, and returns the new revision. */
function replacement(
  table: string,
  schema: string,
  path: DocumentPath,
  stored: Stored | undefined,
  revision: string | undefined,
): readonly [sql: string, values: readonly unknown[]] {
  const id = encodePath(path);
  if (stored === undefined) {
    // Removing a document that does not exist is not a conflict.
    if (revision === undefined)
      return [`done AS (SELECT 0 AS result WHERE NOT EXISTS (SELECT FROM ${table} WHERE path = $1))`, [id]];
    const sql = `DELETE FROM ${table} USING fence WHERE path = $1 AND revision = $2 RETURNING revision AS result`;
    return [`done AS (${sql})`, [id, revision]];
  }
  const body = encodeBody(stored);
  const guild = guildIn(path, stored);
  if (revision === undefined) {
    const sql = `INSERT INTO ${table} (path, body, guild_id) SELECT $1, $2::json, $3 FROM fence ON CONFLICT (path) DO NOTHING
      RETURNING revision AS result`;
    return [`done AS (${sql})`, [id, body, guild]];
  }
  const sql = `UPDATE ${table} SET body = $2, last_good = NULL, revision = nextval('${schema}.revisions'), guild_id = coalesce($4, guild_id)
    FROM fence WHERE path = $1 AND revision = $3 RETURNING revision AS result`;
  return [`done AS (${sql})`, [id, body, revision, guild]];
}

/** A journal with one row for each line. A statement adds all rows or none, so that a crash never leaves a partial line. */
function journalTable(parts: {
  readonly path: string;
  /** The value of its server column. */
  readonly guild: string | null;
  /** Whether it includes the journals of this path that the groups of an earlier cluster have left. */
  readonly isWhole: boolean;
  readonly schema: string;
  readonly query: Connections['query'];
  readonly write: Writer['write'];
}): JournalMedium {
  const { path, guild, isWhole, schema, query, write } = parts;
  const table = `${schema}.journal_lines`;
  const isOwn = isWhole ? `(path = $1 OR path >= $1 || '@' AND path < $1 || 'A')` : 'path = $1';
  const isCopy = `path >= $1 || '.' AND path < $1 || '/'`;
  let size = 0;
  let isMeasured = false;
  const added = `done AS (INSERT INTO ${table} (path, line, guild_id)
    SELECT $1, line, $3::bigint FROM fence, unnest($2::text[]) WITH ORDINALITY AS new (line, at) ORDER BY at RETURNING id AS result)`;
  const measured = async () => {
    if (isMeasured) return;
    const [row] = await query(`SELECT coalesce(sum(octet_length(line) + 1), 0) AS bytes FROM ${table} WHERE ${isOwn}`, [
      path,
    ]);
    size = Number(row?.bytes ?? 0);
    isMeasured = true;
  };
  return {
    name: path,
    async read() {
      const rows = await query(`SELECT line FROM ${table} WHERE ${isOwn} ORDER BY id`, [path]);
      return rows.map((row) => `${textIn(row, 'line')}\n`).join('');
    },
    async add(lines) {
      await measured();
      await write(added, [path, linesIn(lines), guild]);
      size += sizeOf(lines);
    },
    async replace(lines) {
      // In one statement, the deletion does not affect the rows that are inserted.
      await write(`gone AS (DELETE FROM ${table} USING fence WHERE ${isOwn}), ${added}`, [path, linesIn(lines), guild]);
      size = sizeOf(lines);
      isMeasured = true;
    },
    get size() {
      return size;
    },
    async keepCopy(label) {
      const copy = `${path}.${label}`;
      const copied = await write(
        `done AS (INSERT INTO ${table} (path, line, guild_id) SELECT $2, line, guild_id FROM ${table}, fence WHERE ${isOwn} ORDER BY id
           RETURNING path AS result)`,
        [path, copy],
      );
      return copied === undefined ? undefined : `${copy} (${table})`;
    },
    async eraseCopies(isConcerned) {
      const rows = await query(
        `SELECT path, string_agg(line, E'\\n') AS text FROM ${table} WHERE ${isCopy} GROUP BY path`,
        [path],
      );
      const concerned = rows.filter((row) => isConcerned(textIn(row, 'text'))).map((row) => textIn(row, 'path'));
      if (concerned.length === 0) return;
      const sql = `done AS (DELETE FROM ${table} USING fence WHERE path = ANY($1) RETURNING path AS result)`;
      await write(sql, [concerned]);
    },
    async erase() {
      await write(`done AS (DELETE FROM ${table} USING fence WHERE ${isOwn} OR ${isCopy} RETURNING path AS result)`, [
        path,
      ]);
      size = 0;
      isMeasured = true;
    },
    async release() {
      isMeasured = false;
    },
  };
}

/** The column type of a server's id. */
const SNOWFLAKE = /^\d{1,19}$/;
const GREATEST = 2n ** 63n;
/** The value that stands for no server. */
const NOWHERE = '0';
/** An upper limit of the number of concurrent changes. */
const MOST_AT_ONCE = 1_000;

/** The value of a server column; `null` when only Discord could name the server: the stored value is kept then. */
function guildIn(path: DocumentPath, stored: Stored): string | null {
  const guildId = guildOfDocument(path, stored);
  return guildId === undefined ? null : columnOf(guildId);
}

/** The server that a column names; `null` for none. */
const namedBy = (column: string): string | null => (column === NOWHERE ? null : column);

function columnOf(guildId: string | null): string {
  return guildId !== null && SNOWFLAKE.test(guildId) && BigInt(guildId) < GREATEST ? guildId : NOWHERE;
}

/** The path of a journal in the table. Each group has its own journal where the path names no server; a longer path belongs to one owner in any group. */
function journalOf(path: DocumentPath, { group }: Partition): DocumentPath {
  if (group === 0 || path.length !== JOURNAL_LENGTH || guildOfJournal(path) !== undefined) return path;
  return [...path.slice(0, -1), `${path.at(-1)}@${group}`];
}

/** The path with which a group opens its own journal; `undefined` for the journal of another group. */
function openedAs(path: DocumentPath, { group, groups }: Partition): DocumentPath | undefined {
  const [name = '', suffix = '0'] = (path.at(-1) ?? '').split('@');
  return groups === 1 || Number(suffix) === group ? [...path.slice(0, -1), name] : undefined;
}

/** A journal in the form in which it is listed; `undefined` for a copy, and for the journal of another group at the same path. */
function entryOf(row: Row, partition: Partition): JournalEntry | undefined {
  const path = decodePath(textIn(row, 'path'));
  if (COPY.test(path.at(-1) ?? '')) return undefined;
  const guild = typeof row.guild === 'string' ? namedBy(row.guild) : guildOfJournal(path);
  const bytes = Number(row.bytes);
  if (guild !== undefined) return { path, bytes, isOwn: partition.owns(guild) };
  const opened = openedAs(path, partition);
  return opened === undefined ? undefined : { path: opened, bytes, isOwn: true };
}

/** The length of a journal's path without further owners: the plugin, the name of the group of journals, and that of the journal. */
const JOURNAL_LENGTH = 3;
/** The end of the last segment of a copy's path. */
const COPY = /\.[a-z]+-[0-9a-zA-Z]+$/;

const linesIn = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');
const sizeOf = (text: string): number => linesIn(text).reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);

/** @throws TypeError when the data are not JSON */
function encodeBody({ version, data }: Stored): string {
  return JSON.stringify({ version, data });
}

/** The segments joined by `/`. A slash in a segment, and NUL, which PostgreSQL cannot store, are written as `%xx`. */
function encodePath(path: DocumentPath): string {
  return path.map((segment) => segment.replaceAll('%', '%25').replaceAll('/', '%2F').replaceAll('\0', '%00')).join('/');
}

export function decodePath(text: string): DocumentPath {
  return text
    .split('/')
    .map((segment) => segment.replaceAll('%00', '\0').replaceAll('%2F', '/').replaceAll('%25', '%'));
}

/** The range of paths below a prefix, in byte order: from its slash to the character after that. */
function rangeBelow(prefix: DocumentPath): readonly [from: string, to: string] {
  const text = encodePath(prefix);
  return [`${text}/`, `${text}0`];
}

/** A column that is never NULL; 64-bit numbers are returned as text. */
function textIn(row: Row, column: string): string {
  const value = row[column];
  if (typeof value === 'string') return value;
  throw new DamagedDocument(`the column ${column} has no text`);
}
