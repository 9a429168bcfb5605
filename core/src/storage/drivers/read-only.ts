import type { Driver, Stored } from '../driver.js';

/** A driver that reads what another one holds, and keeps what is written to it in memory alone: for looking at the data of a bot that runs. */
export function readOnlyDriver(driver: Driver): Driver {
  const written = new Map<string, Stored | undefined>();
  // What is kept in memory alone has no revisions.
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
