import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { UserError } from '@cinnabar/sdk';
import { createSystemClock } from '../clock/clock.js';
import type { HostConfig } from '../config/host-config.js';
import { NO_LOG } from '../observability/no-log.js';
import { DamagedDocument, type DocumentPath, type Driver, nameOf, type Stored } from '../storage/driver.js';
import { createFileDriver } from '../storage/drivers/file-driver.js';
import { openDriver } from '../storage/drivers/open-driver.js';
import { createPostgresDriver } from '../storage/drivers/postgres/database.js';
import { whileLocked } from './backup.js';

type Terminal = {
  readonly stdout: Pick<NodeJS.WritableStream, 'write'>;
  readonly stderr: Pick<NodeJS.WritableStream, 'write'>;
};

const KINDS = ['files', 'postgres'] as const;
type Kind = (typeof KINDS)[number];
const USAGE =
  'It is "storage check", "storage copy --from files --to postgres" or "storage copy --from postgres --to files".';

/**
 * `cinnabar storage copy` and `cinnabar storage check`, while the bot is stopped.
 * @returns the exit code: 1 where documents cannot be read
 * @throws CINNABAR_DATA_IN_USE while it runs; UserError
 */
export async function runStorage(
  operands: readonly string[],
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
  config: HostConfig,
  terminal: Terminal,
): Promise<number> {
  const [action, ...others] = operands;
  if (others.length > 0 || (action !== 'copy' && action !== 'check')) throw new UserError(USAGE);
  return whileLocked(config.dataDir, terminal, async () => {
    const shown = progressOn(terminal);
    if (action === 'check') return check(openDriver(config, NO_LOG, 'alone'), terminal, shown);
    const kinds = KINDS.filter((kind) => kind === from || kind === to);
    if (kinds.length !== 2) throw new UserError(USAGE);
    const drivers = { files: filesOf(config), postgres: databaseOf(config) };
    try {
      const [source, target]: readonly [Kind, Kind] = from === 'files' ? ['files', 'postgres'] : ['postgres', 'files'];
      const { copied, inventory } = await copyStorage(drivers[source], drivers[target], shown);
      const same = `${copied} copied; both hold ${wordsOf(inventory)}`;
      terminal.stdout.write(`${same}\n`);
      return reportDamaged(inventory, terminal);
    } finally {
      await Promise.all([drivers.files.close(), drivers.postgres.close()]);
    }
  });
}

async function check(driver: Driver, terminal: Terminal, shown: Progress): Promise<number> {
  try {
    const inventory = await takeInventory(driver, shown);
    terminal.stdout.write(`${wordsOf(inventory)}\n`);
    return reportDamaged(inventory, terminal);
  } finally {
    await driver.close();
  }
}

function filesOf({ root, dataDir, env }: HostConfig): Driver {
  const open = (documents: string, journals: string) =>
    createFileDriver({ root: documents, journals, clock: createSystemClock(), log: NO_LOG });
  const files = open(join(dataDir, 'documents'), dataDir);
  if (!env.TOOLS_PATH) return files;
  const folder = resolve(root, env.TOOLS_PATH);
  return withToolsIn(open(folder, folder), files);
}

/** The name of the history of `mcp` in a database. In files, the history is in the folder of `TOOLS_PATH` if that is set. */
const TOOLS = 'tools';

function withToolsIn(tools: Driver, files: Driver): Driver {
  return {
    ...files,
    journal: (path, guildId) =>
      path[0] === TOOLS ? tools.journal(path.slice(1), guildId) : files.journal(path, guildId),
    async journals(prefix = []) {
      const [first, ...below] = prefix;
      const others = first === TOOLS ? [] : await files.journals(prefix);
      if (first !== undefined && first !== TOOLS) return others;
      const found = await tools.journals(below);
      return [
        ...others.filter(({ path }) => path[0] !== TOOLS),
        ...found.map((entry) => ({ ...entry, path: [TOOLS, ...entry.path] })),
      ];
    },
  };
}

function databaseOf({ storage }: HostConfig): Driver {
  if (storage === undefined) throw new UserError('No database is named: set DATABASE_URL, or storage.url.');
  return createPostgresDriver({ ...storage, use: 'alone', clock: createSystemClock(), log: NO_LOG });
}

function wordsOf({ documents, journals, sha256 }: Inventory): string {
  return `${documents} documents and ${journals} journals, SHA-256 ${sha256}`;
}

function reportDamaged({ damaged }: Inventory, { stderr }: Terminal): number {
  for (const name of damaged) stderr.write(`cannot be read: ${name}\n`);
  return damaged.length === 0 ? 0 : 1;
}

type Progress = (done: number, total: number) => void;

/** Progress is shown above this number of documents and journals: fewer are copied before anyone could read it. */
const MANY = 5_000;

function progressOn({ stderr }: Terminal): Progress {
  let last = 0;
  return (done, total) => {
    const tenth = total < MANY ? 0 : Math.floor((10 * done) / total);
    if (tenth <= last || tenth >= 10) return;
    last = tenth;
    stderr.write(`${done} of ${total}\n`);
  };
}

/** The content of a medium. */
export interface Inventory {
  readonly documents: number;
  readonly journals: number;
  /** A digest of all readable documents, in the order of the paths: media with the same digest have the same content. */
  readonly sha256: string;
  /** Documents that cannot be read, by name. */
  readonly damaged: readonly string[];
}

/** Called with the number of completed documents and journals. */
type OnProgress = (done: number, total: number) => void;

const AT_ONCE = 32;

const inOrder = (paths: readonly DocumentPath[]): readonly DocumentPath[] =>
  paths
    .map((path) => ({ path, id: JSON.stringify(path) }))
    .sort((one, other) => (one.id < other.id ? -1 : 1))
    .map(({ path }) => path);

const journalsOf = async (driver: Driver): Promise<readonly DocumentPath[]> =>
  inOrder((await driver.journals()).map(({ path }) => path));

/** Runs a task for each item, in batches, so that a year of receipts is not in memory at once. */
async function eachOf<T>(
  items: readonly T[],
  task: (item: T) => Promise<void>,
  onDone: (done: number) => void,
): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE) {
    await Promise.all(items.slice(at, at + AT_ONCE).map(task));
    onDone(Math.min(items.length, at + AT_ONCE));
  }
}

/** `undefined` for a document of which only put-aside copies exist; `damaged` for one that cannot be read. */
async function readOne(driver: Driver, path: DocumentPath): Promise<Stored | 'damaged' | undefined> {
  try {
    return await driver.read(path);
  } catch (error) {
    if (error instanceof DamagedDocument) return 'damaged';
    throw error;
  }
}

/** Reads the whole content. */
export async function takeInventory(driver: Driver, onProgress: OnProgress = () => undefined): Promise<Inventory> {
  const paths = inOrder(await driver.list([]));
  const journals = await journalsOf(driver);
  const total = paths.length + journals.length;
  const hash = createHash('sha256');
  const damaged: string[] = [];
  let documents = 0;
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    const batch = paths.slice(at, at + AT_ONCE);
    const found = await Promise.all(batch.map((path) => readOne(driver, path)));
    for (const [index, stored] of found.entries()) {
      const path = batch[index] ?? [];
      if (stored === 'damaged') damaged.push(nameOf(path));
      if (stored === undefined || stored === 'damaged') continue;
      documents += 1;
      hash.update(`${JSON.stringify([path, stored.version, stored.data])}\n`);
    }
    onProgress(at + batch.length, total);
  }
  let filled = 0;
  for (const [index, path] of journals.entries()) {
    const text = linesOf(await textIn(driver, path));
    if (text !== '') filled += 1;
    if (text !== '') hash.update(`${JSON.stringify([path, text])}\n`);
    onProgress(paths.length + index + 1, total);
  }
  return { documents, journals: filled, sha256: hash.digest('hex'), damaged };
}

async function textIn(driver: Driver, path: DocumentPath): Promise<string> {
  const medium = driver.journal(path);
  try {
    return await medium.read();
  } finally {
    await medium.release();
  }
}

/** Normalises a journal: media differ in empty lines, and in the end of a last line that was cut off. */
function linesOf(text: string): string {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `${line}\n`)
    .join('');
}

/**
 * Copies every document and journal, then reads both media and compares. Equal documents are skipped, so that an interrupted copy can be continued. Nothing in
 * the target is overwritten.
 * @throws UserError when the target holds something else, or does not hold the same at the end
 */
async function copyStorage(
  from: Driver,
  to: Driver,
  onProgress: OnProgress = () => undefined,
): Promise<{ readonly copied: number; readonly inventory: Inventory }> {
  const paths = inOrder(await from.list([]));
  const journals = await journalsOf(from);
  await assertNothingElse(to, paths, journals);
  const total = paths.length + journals.length;
  let copied = 0;
  const copyDocument = async (path: DocumentPath) => {
    const stored = await readOne(from, path);
    if (stored === undefined || stored === 'damaged') return;
    const there = await readOne(to, path);
    if (there !== undefined) {
      if (JSON.stringify(there) === JSON.stringify(stored)) return;
      throw new UserError(`${nameOf(path)} is there already, and differs. Nothing of it was changed.`);
    }
    await to.write(path, stored);
    copied += 1;
  };
  const copyJournal = async (path: DocumentPath) => {
    const text = linesOf(await textIn(from, path));
    const there = linesOf(await textIn(to, path));
    if (text === there) return;
    if (there !== '') throw new UserError(`The journal ${nameOf(path)} is there already, and differs.`);
    const medium = to.journal(path);
    await medium.replace(text);
    await medium.release();
    copied += 1;
  };
  await eachOf(paths, copyDocument, (done) => onProgress(done, total));
  await eachOf(journals, copyJournal, (done) => onProgress(paths.length + done, total));

  const [inventory, made] = [await takeInventory(from), await takeInventory(to)];
  if (made.sha256 === inventory.sha256 && made.documents === inventory.documents) return { copied, inventory };
  const counts = `${inventory.documents} documents and ${inventory.journals} journals, ${made.documents} and ${made.journals}`;
  throw new UserError(
    `The copy is not the same: ${counts}. Something else writes to one of them: stop it, and copy into an empty one.`,
  );
}

/** The target must not have other data: afterwards, the source would differ from it. */
async function assertNothingElse(
  to: Driver,
  paths: readonly DocumentPath[],
  journals: readonly DocumentPath[],
): Promise<void> {
  const known = new Set(paths.map((path) => JSON.stringify(path)));
  const knownJournals = new Set(journals.map((path) => JSON.stringify(path)));
  const others = [
    ...(await to.list([])).filter((path) => !known.has(JSON.stringify(path))),
    ...(await journalsOf(to)).filter((path) => !knownJournals.has(JSON.stringify(path))),
  ];
  const [first] = others;
  if (first === undefined) return;
  const example = nameOf(first);
  throw new UserError(
    `The target holds ${others.length} documents or journals that the source has not, such as ${example}. Copy into an empty one.`,
  );
}
