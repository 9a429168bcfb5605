import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Driver } from '@cinnabar/core';
import { NO_LOG } from '@cinnabar/core/internal/observability/no-log';
import { openDriver } from '@cinnabar/core/internal/storage/drivers/open-driver';
import { copyDatabase, databaseFor, textInDatabase } from './postgres.js';

/** Whether the hosts of the tests keep their data in PostgreSQL instead of files. */
export const IN_POSTGRES = process.env.CINNABAR_TEST_STORAGE === 'postgres';

/** What a bot that is killed at this moment leaves to the next one: a copy of its folder, and of what stands for that in the database. */
export function copyData(dataDir: string, toDataDir: string): void {
  cpSync(dataDir, toDataDir, { recursive: true });
  if (IN_POSTGRES) copyDatabase(dataDir, toDataDir);
}

/** What is stored in a folder of data that no host uses, wherever it is. */
export async function openData(dataDir: string): Promise<Driver & AsyncDisposable> {
  const place = IN_POSTGRES ? { storage: await databaseFor(dataDir) } : {};
  const driver = openDriver({ ...place, dataDir }, NO_LOG, 'alone');
  return Object.assign(driver, { [Symbol.asyncDispose]: () => driver.close() });
}

/** Everything that hosts have written down with a folder of data: settings, collections, ledger, logs. */
export async function writtenIn(dataDir: string): Promise<string> {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
  return [...files, IN_POSTGRES ? await textInDatabase(dataDir) : ''].join('\n');
}
