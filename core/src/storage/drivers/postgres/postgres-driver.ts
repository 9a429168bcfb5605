import type { Clock, JournalMedium, Logger } from '@cinnabar/sdk';
import {
  DamagedDocument,
  type DocumentPath,
  type Driver,
  decodeStored,
  OutdatedDocument,
  type SharedListener,
  type Stored,
} from '../../driver.js';
import { createChangeListener } from './changes.js';
import { type Connections, createConnections, type PostgresOptions, type Row } from './connection.js';
import { assertUsable, migrate, schemaState } from './migrations.js';

export interface PostgresDriverOptions extends PostgresOptions {
  /**
   * `alone` refuses to work while another process that says the same works on these tables; `look` makes no tables, hears of no changes, and
   * finds nothing where there are no tables. Writing is for the other two.
   */
  readonly use: 'alone' | 'together' | 'look';
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Documents and journals in tables of one schema. Nothing is connected before the first use, which makes or migrates the tables. A row's primary
 * key is the document's whole path, so that what is below a prefix is one range of the index.
 */
export function createPostgresDriver(options: PostgresDriverOptions): Driver {
  const { schema, use, clock, log } = options;
  const connections = createConnections(options);
  const listeners = new Set<SharedListener>();
  const changes = createChangeListener({
    connections,
    schema,
    exclusive: use === 'alone',
    clock,
    log,
    onChange({ path, revision }) {
      for (const { changed } of listeners) changed({ path: decodePath(path), revision });
    },
    async onGap() {
      await Promise.all([...listeners].map(({ missed }) => missed()));
    },
  });
  const documents = `${schema}.documents`;
  const copies = `${schema}.copies`;

  let preparing: Promise<void> | undefined;
  let isEmpty = false;
  const ready = () => {
    preparing ??= (async () => {
      if (use === 'look') {
        const state = await schemaState(connections.query, schema);
        assertUsable(state, schema);
        isEmpty = state.version === 0;
        return;
      }
      await changes.open();
      await migrate(connections, schema);
    })().catch((error: unknown) => {
      preparing = undefined;
      throw error;
    });
    return preparing;
  };
  const query: Connections['query'] = async (sql, values) => {
    await ready();
    return isEmpty ? [] : connections.query(sql, values);
  };
  const change: Connections['query'] = async (sql, values) => {
    await ready();
    changes.check();
    return connections.query(sql, values);
  };
  const transaction: Connections['transaction'] = async (body) => {
    await ready();
    changes.check();
    return connections.transaction(body);
  };

  const readRevision = async (path: DocumentPath) => {
    const [row] = await query(`SELECT body::text AS body, revision FROM ${documents} WHERE path = $1`, [
      encodePath(path),
    ]);
    if (row === undefined) return { stored: undefined, revision: undefined };
    return { stored: decodeStored(textIn(row, 'body')), revision: textIn(row, 'revision') };
  };

  const keepCopy = async (on: Connections['query'], path: DocumentPath, label: string): Promise<string | undefined> => {
    const sql = `INSERT INTO ${copies} (path, label, body) SELECT path, $2, body FROM ${documents} WHERE path = $1 RETURNING id`;
    const [row] = await on(sql, [encodePath(path), label]);
    return row === undefined ? undefined : `${encodePath(path)}.${label}-${textIn(row, 'id')} (${copies})`;
  };

  return {
    open: ready,

    read: async (path) => (await readRevision(path)).stored,

    async write(path, stored) {
      const sql = `INSERT INTO ${documents} (path, body) VALUES ($1, $2)
        ON CONFLICT (path) DO UPDATE SET body = EXCLUDED.body, last_good = NULL, revision = EXCLUDED.revision`;
      await change(sql, [encodePath(path), encodeBody(stored)]);
    },

    async delete(path) {
      await change(`DELETE FROM ${documents} WHERE path = $1`, [encodePath(path)]);
    },

    async erase(path) {
      const values = [encodePath(path)];
      await transaction(async (on) => {
        await on(`DELETE FROM ${documents} WHERE path = $1`, values);
        await on(`DELETE FROM ${copies} WHERE path = $1`, values);
      });
    },

    async list(prefix) {
      const sql = (where: string) =>
        `SELECT path FROM ${documents} ${where} UNION SELECT path FROM ${copies} ${where} ORDER BY path`;
      const [where, values] = prefix.length === 0 ? ['', []] : ['WHERE path >= $1 AND path < $2', rangeBelow(prefix)];
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
        const place = await keepCopy(on, path, 'corrupt');
        if (row.is_last === true) await on(`DELETE FROM ${documents} WHERE path = $1`, [id]);
        else {
          const sql = `UPDATE ${documents} SET body = last_good, last_good = NULL, revision = nextval('${schema}.revisions') WHERE path = $1`;
          await on(sql, [id]);
        }
        return place;
      }),

    async keep(path, label) {
      const place = await keepCopy(change, path, label);
      if (place === undefined) throw new DamagedDocument('there is nothing to keep');
      return place;
    },

    journal: (path) => journalTable({ path: encodePath(path), table: `${schema}.journal_lines`, query, transaction }),

    async journals() {
      const rows = await query(`SELECT DISTINCT path FROM ${schema}.journal_lines ORDER BY path`);
      return rows.map((row) => decodePath(textIn(row, 'path')));
    },

    async eraseJournals(plugin) {
      const [from, to] = rangeBelow([plugin]);
      await change(`DELETE FROM ${schema}.journal_lines WHERE path >= $1 AND path < $2`, [from, to]);
    },

    shared: {
      read: readRevision,
      async replace(path, stored, revision) {
        const [sql, values] = replacement(documents, schema, encodePath(path), stored, revision);
        const [row] = await change(sql, values);
        if (row === undefined) throw new OutdatedDocument();
        return stored === undefined ? undefined : textIn(row, 'revision');
      },
      async revisions(paths) {
        // Also while the driver is not ready: it is what makes it ready again.
        const rows = await connections.query(`SELECT path, revision FROM ${documents} WHERE path = ANY($1)`, [
          paths.map(encodePath),
        ]);
        const found = new Map(rows.map((row) => [textIn(row, 'path'), textIn(row, 'revision')]));
        return paths.map((path) => found.get(encodePath(path)));
      },
      listen(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },

    async close() {
      await changes.close();
      await connections.close();
    },
  };
}

/** A statement that gives a row when the document was at that revision, and is changed. */
function replacement(
  table: string,
  schema: string,
  path: string,
  stored: Stored | undefined,
  revision: string | undefined,
): readonly [sql: string, values: readonly unknown[]] {
  if (stored === undefined) {
    // Nothing to remove is no conflict.
    if (revision === undefined) return [`SELECT 1 WHERE NOT EXISTS (SELECT FROM ${table} WHERE path = $1)`, [path]];
    return [`DELETE FROM ${table} WHERE path = $1 AND revision = $2 RETURNING revision`, [path, revision]];
  }
  const body = encodeBody(stored);
  if (revision === undefined) {
    const sql = `INSERT INTO ${table} (path, body) VALUES ($1, $2) ON CONFLICT (path) DO NOTHING RETURNING revision`;
    return [sql, [path, body]];
  }
  const sql = `UPDATE ${table} SET body = $2, last_good = NULL, revision = nextval('${schema}.revisions')
    WHERE path = $1 AND revision = $3 RETURNING revision`;
  return [sql, [path, body, revision]];
}

/** A row a line: a statement adds all of them or none, so no line is ever cut off by a crash. */
function journalTable(parts: {
  readonly path: string;
  readonly table: string;
  readonly query: Connections['query'];
  readonly transaction: Connections['transaction'];
}): JournalMedium {
  const { path, table, query, transaction } = parts;
  let size = 0;
  let isMeasured = false;
  const insert = (on: Connections['query'], lines: string) =>
    on(
      `INSERT INTO ${table} (path, line) SELECT $1, line FROM unnest($2::text[]) WITH ORDINALITY AS new (line, at) ORDER BY at`,
      [path, linesIn(lines)],
    );
  const measured = async () => {
    if (isMeasured) return;
    const [row] = await query(
      `SELECT coalesce(sum(octet_length(line) + 1), 0) AS bytes FROM ${table} WHERE path = $1`,
      [path],
    );
    size = Number(row?.bytes ?? 0);
    isMeasured = true;
  };
  return {
    name: path,
    async read() {
      const rows = await query(`SELECT line FROM ${table} WHERE path = $1 ORDER BY id`, [path]);
      return rows.map((row) => `${textIn(row, 'line')}\n`).join('');
    },
    async add(lines) {
      await measured();
      await transaction((on) => insert(on, lines));
      size += sizeOf(lines);
    },
    async replace(lines) {
      await transaction(async (on) => {
        await on(`DELETE FROM ${table} WHERE path = $1`, [path]);
        await insert(on, lines);
      });
      size = sizeOf(lines);
      isMeasured = true;
    },
    get size() {
      return size;
    },
    async release() {
      isMeasured = false;
    },
  };
}

const linesIn = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');
const sizeOf = (text: string): number => linesIn(text).reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);

/** @throws TypeError when the data is not JSON */
function encodeBody({ version, data }: Stored): string {
  return JSON.stringify({ version, data });
}

/** Segments joined by `/`; what would be taken for that, and the one character that PostgreSQL has no text for, as `%xx`. */
export function encodePath(path: DocumentPath): string {
  return path.map((segment) => segment.replaceAll('%', '%25').replaceAll('/', '%2F').replaceAll('\0', '%00')).join('/');
}

export function decodePath(text: string): DocumentPath {
  return text
    .split('/')
    .map((segment) => segment.replaceAll('%00', '\0').replaceAll('%2F', '/').replaceAll('%25', '%'));
}

/** The paths below a prefix, in the order of bytes: from its slash to the character after that. */
function rangeBelow(prefix: DocumentPath): readonly [from: string, to: string] {
  const text = encodePath(prefix);
  return [`${text}/`, `${text}0`];
}

/** A column that is never NULL; numbers of 64 bits come as text. */
function textIn(row: Row, column: string): string {
  const value = row[column];
  if (typeof value === 'string') return value;
  throw new DamagedDocument(`the column ${column} has no text`);
}
