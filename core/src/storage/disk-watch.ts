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
import { nameOf } from './documents/path-names.js';
import { DamagedDocument, type DocumentPath, type Driver } from './driver.js';

/** That nothing can be saved, and why. */
export interface DiskCondition extends DiskTrouble {
  /** In milliseconds since the Unix epoch. */
  readonly since: number;
}

/** Knows whether the data can be written. */
export interface DiskWatch extends WriteWatch {
  /** `undefined` while all is well, as far as the last write has shown. */
  condition(): DiskCondition | undefined;
  /** Hears of every change of the condition. Must not throw. */
  onChange(listener: (condition: DiskCondition | undefined) => void): () => void;
  /** Adds what has to hold before each write. @param check throws when nothing may be written */
  guard(check: () => void): void;
  /** A document that is there but cannot be read. */
  unreadable(error: unknown, document: string): void;
}

const FULL = ['ENOSPC', 'EDQUOT'];
/** While it lasts, the owner is reminded this often. */
const REMIND_MS = 60 * 60_000;

export function createDiskWatch(options: {
  readonly clock: Clock;
  readonly log: Logger;
  readonly alert: (alert: OwnerAlert) => void;
}): DiskWatch {
  const { clock, log, alert } = options;
  const listeners = new Set<(condition: DiskCondition | undefined) => void>();
  const guards: (() => void)[] = [];
  let condition: DiskCondition | undefined;
  let alertedAt = Number.NEGATIVE_INFINITY;
  let unreadableAt = Number.NEGATIVE_INFINITY;

  const become = (next: DiskCondition | undefined) => {
    condition = next;
    for (const listener of listeners) listener(next);
  };

  return {
    condition: () => condition,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    guard: (check) => void guards.push(check),
    check() {
      for (const check of guards) check();
    },
    written() {
      if (condition === undefined) return;
      log.info('data can be saved again', { code: condition.code });
      alertedAt = Number.NEGATIVE_INFINITY;
      become(undefined);
      alert({
        kind: 'disk-recovered',
        text: 'I could save data again.',
        remedy: 'What members read could not be saved has to be done again.',
      });
    },
    failed(error, file) {
      const trouble = diskTroubleOf(error);
      if (trouble === undefined) return;
      const isNew = condition?.code !== trouble.code;
      if (isNew) log.error(`nothing can be saved: ${trouble.words}`, { file, error });
      if (isNew || clock.now() - alertedAt >= REMIND_MS) {
        alertedAt = clock.now();
        if (isNew) become({ ...trouble, since: clock.now() });
        alert({
          kind: FULL.includes(trouble.code) ? 'disk-full' : 'disk',
          text: `I could not save anything: ${trouble.words} (${trouble.code}, ${file}).`,
          remedy: `${trouble.remedy} Each change is tried anew, so nothing else has to be done once that helps.`,
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
  const writing = async <T>(path: DocumentPath, operation: () => Promise<T>): Promise<T> => {
    const document = nameOf(path);
    try {
      watch.check();
      const result = await operation();
      watch.written();
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
    write: (path, stored) => writing(path, () => driver.write(path, stored)),
    delete: (path) => writing(path, () => driver.delete(path)),
    erase: (path) => writing(path, () => driver.erase(path)),
    setAside: (path) => writing(path, () => driver.setAside(path)),
    keep: (path, label) => writing(path, () => driver.keep(path, label)),
    close: () => driver.close(),
  };
}
