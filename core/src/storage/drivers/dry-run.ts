import type { DocumentPath, Driver, Stored } from '../driver.js';
import { createMemoryDriver } from './memory.js';

/** Reads from `driver`, and keeps every change in memory: nothing is written. Journals start empty. */
export function createDryRunDriver(driver: Driver): Driver {
  const changes = createMemoryDriver();
  const touched = new Set<string>();
  const idOf = (path: DocumentPath) => JSON.stringify(path);
  const touch = (path: DocumentPath) => void touched.add(idOf(path));
  return {
    ...changes,
    read: (path) => (touched.has(idOf(path)) ? changes.read(path) : driver.read(path)),
    async write(path, stored) {
      touch(path);
      await changes.write(path, stored);
    },
    async delete(path) {
      touch(path);
      await changes.delete(path);
    },
    async erase(path) {
      touch(path);
      await changes.erase(path);
    },
    async list(prefix, whose) {
      const kept = (await driver.list(prefix, whose)).filter((path) => !touched.has(idOf(path)));
      return [...kept, ...(await changes.list(prefix))];
    },
    async setAside(path) {
      touch(path);
      return undefined;
    },
    keep: async (path, label) => `${path.join('/')}.${label}`,
    close: () => driver.close(),
  };
}

/** A driver that reads from another one, and keeps what is written in memory: for inspecting the data of a running bot. */
export function readOnlyDriver(driver: Driver): Driver {
  const written = new Map<string, Stored | undefined>();
  // Documents in memory have no revisions.
  const { shared: _, ...own } = driver;
  const keyOf = (path: readonly string[]) => path.map(encodeURIComponent).join('/');
  return {
    ...own,
    read: async (path) => (written.has(keyOf(path)) ? written.get(keyOf(path)) : driver.read(path)),
    write: async (path, stored) => void written.set(keyOf(path), stored),
    delete: async (path) => void written.set(keyOf(path), undefined),
    erase: async (path) => void written.set(keyOf(path), undefined),
    async setAside(path) {
      written.set(keyOf(path), undefined);
      return undefined;
    },
    keep: async (path) => keyOf(path),
  };
}
