import { join } from 'node:path';
import type { Logger } from '@cinnabar/sdk';
import { createSystemClock } from '../../clock/clock.js';
import type { HostConfig } from '../../config/host-config.js';
import type { Driver } from '../driver.js';
import { createFileDriver } from './file-driver.js';
import type { DatabaseOptions } from './postgres/database.js';
import { createPostgresDriver } from './postgres/database.js';

/** The place of the stored data, for operators. */
export function placeOfData({ storage, dataDir }: Pick<HostConfig, 'storage' | 'dataDir'>): string {
  return storage === undefined ? dataDir : `the database, schema ${storage.schema}, or in ${dataDir}`;
}

/**
 * The configured driver: PostgreSQL, otherwise files below the data folder.
 * @param use how a database is used; files are protected by the lock of their folder
 */
export function openDriver(
  { storage, dataDir }: Pick<HostConfig, 'storage' | 'dataDir'>,
  log: Logger,
  use: DatabaseOptions['use'],
): Driver {
  // The machine's clock, as the disk and the database use: a local Discord's clock may be stopped.
  const clock = createSystemClock();
  if (storage !== undefined) return createPostgresDriver({ ...storage, use, clock, log });
  return createFileDriver({ root: join(dataDir, 'documents'), journals: dataDir, clock, log });
}
