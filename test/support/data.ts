import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createFileDriver, createPostgresDriver, createSystemClock, type Driver } from '@cinnabar/core';
import type { Place } from './cinnabar.js';
import { makeFolder } from './folder.js';
import { recordingLogger } from './logs.js';
import { copyDatabase, databaseFor, hasPostgres, journalsInDatabase, textInDatabase } from './postgres.js';

/** Whether the hosts of the tests keep their data in PostgreSQL instead of files. */
export const IN_POSTGRES =
  process.env.CINNABAR_TEST_STORAGE === 'postgres' &&
  hasPostgres('bots with their data in PostgreSQL, which have it in files');

/** What a bot that is killed at this moment leaves to the next one: a copy of its folder, and of what stands for that in the database. */
export function copyData(dataDir: string, toDataDir: string): void {
  cpSync(dataDir, toDataDir, { recursive: true });
  if (IN_POSTGRES) copyDatabase(dataDir, toDataDir);
}

const storageOf = async (dataDir: string) => (IN_POSTGRES ? { storage: await databaseFor(dataDir) } : {});

/** Where commands find the data: an own folder, which is configured for it. */
export async function commandPlace(dataDir: string): Promise<Place & Disposable> {
  const configuration = await storageOf(dataDir);
  const folder = makeFolder({ 'config/shared.yaml': JSON.stringify(configuration) });
  return { cwd: folder.path, env: { CINNABAR_DATA: dataDir }, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

/** What is stored in a folder of data that no host uses, wherever it is. */
export async function openData(dataDir: string): Promise<Driver & AsyncDisposable> {
  const [clock, log] = [createSystemClock(), recordingLogger()];
  const driver = IN_POSTGRES
    ? createPostgresDriver({ ...(await databaseFor(dataDir)), use: 'alone', clock, log })
    : createFileDriver({ root: join(dataDir, 'documents'), journals: dataDir, clock, log });
  return Object.assign(driver, { [Symbol.asyncDispose]: () => driver.close() });
}

/** Everything that hosts have written down with a folder of data: settings, collections, ledger, logs. */
export async function writtenIn(dataDir: string): Promise<string> {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
  return [...files, IN_POSTGRES ? await textInDatabase(dataDir) : ''].join('\n');
}

/** The lines of the journals below a path, by the name that their files have without the ending, also while a host writes them. */
export async function journalsBelow(
  dataDir: string,
  path: readonly string[],
): Promise<Readonly<Record<string, readonly string[]>>> {
  if (IN_POSTGRES) return journalsInDatabase(dataDir, path.join('/'));
  const folder = join(dataDir, ...path);
  const linesOf = (name: string) => readFileSync(join(folder, name), 'utf8').trim().split('\n');
  return Object.fromEntries(readdirSync(folder).map((name) => [basename(name, '.jsonl'), linesOf(name)]));
}
