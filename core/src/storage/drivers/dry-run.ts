import type { DocumentPath, Driver } from '../driver.js';
import { createMemoryDriver } from './memory.js';

/** Reads what `driver` holds, and keeps every change in memory: nothing is written. Journals begin empty. */
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
