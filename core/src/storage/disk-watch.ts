import {
  CinnabarError,
  type Clock,
  type DiskTrouble,
  diskTroubleOf,
  diskTroubleText,
  type Logger,
  type OwnerAlert,
  storageReadError,
  storageWriteError,
  type WriteWatch,
} from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import { DamagedDocument, type DocumentPath, type Driver, nameOf } from './driver.js';

/** That nothing can be saved, and why. */
export interface DiskCondition extends DiskTrouble {
  /** In milliseconds since the Unix epoch. */
  readonly since: number;
}

/** Knows whether the data can be written. */
export interface DiskWatch extends WriteWatch {
  /** A file that is gone: needs no room, so it does not show that others can be written. */
  removed(file: string): void;
  /** `undefined` while all is well, as far as the last write has shown; a file whose place alone is blocked is none of it. */
  condition(): DiskCondition | undefined;
  /** Adds what has to hold before each write. @param check throws when nothing may be written */
  guard(check: () => void): void;
  /** A document that is there but cannot be read. */
  unreadable(error: unknown, document: string): void;
}

const FULL = ['ENOSPC', 'EDQUOT'];
/** What keeps a file from being written while others can be. */
const OF_ONE_PLACE = ['EISDIR', 'ENOTDIR', 'EACCES', 'EPERM'];
/** Blocked files that are remembered. */
const MOST_BLOCKED = 1_000;
/** While it lasts, the owner is reminded this often. */
const REMIND_MS = 60 * 60_000;

export function createDiskWatch(options: {
  readonly clock: Clock;
  readonly log: Logger;
  readonly alert: (alert: OwnerAlert) => void;
}): DiskWatch {
  const { clock, log, alert } = options;
  const guards: (() => void)[] = [];
  let condition: DiskCondition | undefined;
  /** Files that cannot be written where they are, and when the owner has heard of each. */
  const blocked = new LRUCache<string, number>({ max: MOST_BLOCKED });
  let alertedAt = Number.NEGATIVE_INFINITY;
  let unreadableAt = Number.NEGATIVE_INFINITY;

  const remedyFor = ({ remedy }: DiskTrouble) =>
    `${remedy} Each change is tried anew, so nothing else has to be done once that helps.`;

  const block = (trouble: DiskTrouble, file: string, error: unknown) => {
    const toldAt = blocked.get(file);
    if (toldAt === undefined) log.error(`a file cannot be saved: ${trouble.words}`, { file, error });
    if (toldAt !== undefined && clock.now() - toldAt < REMIND_MS) return;
    blocked.set(file, clock.now());
    const text = `I could not save ${file}: ${trouble.words} (${trouble.code}).`;
    alert({ kind: 'disk', text, remedy: remedyFor(trouble) });
  };
  const removed = (file: string) => {
    if (blocked.delete(file)) log.info('a file can be saved again', { file });
  };

  return {
    removed,
    condition: () => condition,
    guard: (check) => void guards.push(check),
    check() {
      for (const check of guards) check();
    },
    written(file) {
      removed(file);
      if (condition === undefined) return;
      log.info('data can be saved again', { code: condition.code });
      alertedAt = Number.NEGATIVE_INFINITY;
      condition = undefined;
      alert({
        kind: 'disk-recovered',
        text: 'I could save data again.',
        remedy: 'What members read could not be saved has to be done again.',
      });
    },
    failed(error, file) {
      const trouble = diskTroubleOf(error);
      if (trouble === undefined) return;
      if (OF_ONE_PLACE.includes(trouble.code)) return block(trouble, file, error);
      const isNew = condition?.code !== trouble.code;
      if (isNew) log.error(`nothing can be saved: ${trouble.words}`, { file, error });
      if (isNew || clock.now() - alertedAt >= REMIND_MS) {
        alertedAt = clock.now();
        if (isNew) condition = { ...trouble, since: clock.now() };
        alert({
          kind: FULL.includes(trouble.code) ? 'disk-full' : 'disk',
          text: `I could not save anything: ${trouble.words} (${trouble.code}, ${file}).`,
          remedy: remedyFor(trouble),
        });
      }
    },
    unreadable(error, document) {
      const trouble = diskTroubleOf(error);
      log.error('what is stored cannot be read', { document, error });
      if (trouble === undefined || clock.now() - unreadableAt < REMIND_MS) return;
      unreadableAt = clock.now();
      alert({
        kind: 'disk-read',
        text: `What is stored as ${document} cannot be read: ${diskTroubleText(error)}.`,
        remedy: trouble.remedy,
      });
    },
  };
}

/**
 * What to tell those who start the bot when its data cannot be read or written.
 * @returns CINNABAR_DATA_UNUSABLE; `undefined` for an error that is not the disk's
 */
export function dataUnusable(folder: string, error: unknown): CinnabarError | undefined {
  const trouble = diskTroubleOf(error);
  if (trouble === undefined) return undefined;
  const isCoded = error instanceof CinnabarError && error.params.detail !== undefined;
  const detail = isCoded ? `${error.params.document}: ${error.params.detail}` : diskTroubleText(error);
  return new CinnabarError('CINNABAR_DATA_UNUSABLE', { folder, detail, remedy: trouble.remedy }, { cause: error });
}

/**
 * The driver with its failures coded and watched: CINNABAR_STORAGE_WRITE and CINNABAR_STORAGE_READ have messages that members may read,
 * the reason goes to the log and to the owners.
 */
export function watchedDriver(driver: Driver, watch: DiskWatch): Driver {
  const writing = async <T>(
    path: DocumentPath,
    operation: () => Promise<T>,
    succeeded: (document: string) => void = watch.removed,
  ): Promise<T> => {
    const document = nameOf(path);
    try {
      watch.check();
      const result = await operation();
      succeeded(document);
      return result;
    } catch (error) {
      watch.failed(error, document);
      throw error instanceof DamagedDocument ? error : storageWriteError(document, error);
    }
  };
  const reading = async <T>(path: DocumentPath, operation: () => Promise<T>): Promise<T> => {
    try {
      return await operation();
    } catch (error) {
      if (error instanceof DamagedDocument || error instanceof CinnabarError) throw error;
      const document = nameOf(path);
      watch.unreadable(error, document);
      throw storageReadError(document, error);
    }
  };
  return {
    read: (path) => reading(path, () => driver.read(path)),
    list: (prefix) => reading(prefix, () => driver.list(prefix)),
    write: (path, stored) => writing(path, () => driver.write(path, stored), watch.written),
    delete: (path) => writing(path, () => driver.delete(path)),
    erase: (path) => writing(path, () => driver.erase(path)),
    setAside: (path) => writing(path, () => driver.setAside(path)),
    keep: (path, label) => writing(path, () => driver.keep(path, label)),
    close: () => driver.close(),
  };
}
