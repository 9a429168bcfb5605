import { join, resolve } from 'node:path';
import { UserError } from '@cinnabar/sdk';
import { createSystemClock } from '../clock/clock.js';
import type { HostConfig } from '../config/host-config.js';
import { NO_LOG } from '../observability/no-log.js';
import { copyStorage, type Inventory, takeInventory } from '../storage/copy.js';
import type { Driver } from '../storage/driver.js';
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

/** When `TOOLS_PATH` names a folder, the history of `mcp` is there; the database holds it under this name. */
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

/** A smaller amount is finished before the progress could be read. */
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
