import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFileDriver, createPostgresDriver, createSystemClock, type Driver } from '@cinnabar/core';
import { storeByDefault } from '@cinnabar/core/testing';
import type { Place } from './cinnabar.js';
import { makeFolder } from './folder.js';
import { recordingLogger } from './logs.js';
import { copyDatabase, databaseFor, hasPostgres, journalsInDatabase, textInDatabase } from './postgres.js';

const END_TO_END = fileURLToPath(new URL('../e2e/', import.meta.url));
let inPostgres = false;

const storageFor = (testFile: string | undefined) => (testFile?.startsWith(END_TO_END) ? 'postgres' : 'files');

/**
 * Chooses the storage of the hosts of test files: PostgreSQL for end-to-end tests, if one can be started, and files for all others. CINNABAR_TEST_STORAGE is the
 * storage of all.
 * @throws Error for files of both kinds, as mocha runs them together without `parallel`
 */
export function storeDataOf(testFiles: readonly (string | undefined)[]): void {
  const chosen = process.env.CINNABAR_TEST_STORAGE;
  const [storage = 'files', ...others] = new Set(chosen === undefined ? testFiles.map(storageFor) : [chosen]);
  if (others.length > 0) throw new Error('Test files of both storages run in one process: set CINNABAR_TEST_STORAGE.');
  inPostgres = storage === 'postgres' && hasPostgres('bots with their data in PostgreSQL, which have it in files');
  storeByDefault(inPostgres ? databaseFor : undefined);
}

/** Whether the hosts of the current test file store their data in PostgreSQL instead of files. */
export const isInPostgres = (): boolean => inPostgres;

/** Copies the data folder, and its rows in the database, as a killed bot would leave them to the next process. */
export function copyData(dataDir: string, toDataDir: string): void {
  cpSync(dataDir, toDataDir, { recursive: true });
  if (inPostgres) copyDatabase(dataDir, toDataDir);
}

const storageOf = async (dataDir: string) => (inPostgres ? { storage: await databaseFor(dataDir) } : {});

/** A folder for commands with a configuration that points to the data. */
export async function commandPlace(dataDir: string): Promise<Place & Disposable> {
  const configuration = await storageOf(dataDir);
  const folder = makeFolder({ 'config/shared.yaml': JSON.stringify(configuration) });
  return { cwd: folder.path, env: { CINNABAR_DATA: dataDir }, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

/** Opens the files with the data of a folder that no host uses. */
export function openFiles(dataDir: string): Driver {
  const [clock, log] = [createSystemClock(), recordingLogger()];
  return createFileDriver({ root: join(dataDir, 'documents'), journals: dataDir, clock, log });
}

/** Opens the stored data of a folder that no host uses, with either storage. */
export async function openData(dataDir: string): Promise<Driver & AsyncDisposable> {
  const driver = inPostgres
    ? createPostgresDriver({
        ...(await databaseFor(dataDir)),
        use: 'alone',
        clock: createSystemClock(),
        log: recordingLogger(),
      })
    : openFiles(dataDir);
  return Object.assign(driver, { [Symbol.asyncDispose]: () => driver.close() });
}

/** All data that hosts have written for a data folder, as text: settings, collections, ledger, logs. */
export async function writtenIn(dataDir: string): Promise<string> {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
  return [...files, inPostgres ? await textInDatabase(dataDir) : ''].join('\n');
}

/** The lines of the journals below a path, by file name without extension; also works while a host writes them. */
export async function journalsBelow(
  dataDir: string,
  path: readonly string[],
): Promise<Readonly<Record<string, readonly string[]>>> {
  if (inPostgres) return journalsInDatabase(dataDir, path.join('/'));
  const folder = join(dataDir, ...path);
  const linesOf = (name: string) => readFileSync(join(folder, name), 'utf8').trim().split('\n');
  return Object.fromEntries(readdirSync(folder).map((name) => [basename(name, '.jsonl'), linesOf(name)]));
}
