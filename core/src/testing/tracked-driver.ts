import type { Driver, SharedDocuments } from '../storage/driver.js';

/** A driver, and a way to wait for it: a database answers later than a disk. */
export interface TrackedDriver {
  readonly driver: Driver;
  /** Resolves when nothing is under way; `true` when it had to wait. */
  idle(): Promise<boolean>;
}

export function createTrackedDriver(driver: Driver): TrackedDriver {
  const underWay = new Set<Promise<unknown>>();
  const track = <T>(operation: Promise<T>): Promise<T> => {
    const done = operation.then(
      () => undefined,
      () => undefined,
    );
    underWay.add(done);
    void done.then(() => underWay.delete(done));
    return operation;
  };
  const sharing = (shared: SharedDocuments): SharedDocuments => ({
    ...shared,
    read: (path) => track(shared.read(path)),
    replace: (path, stored, revision) => track(shared.replace(path, stored, revision)),
  });
  const tracked: Driver = {
    ...driver,
    ...(driver.shared === undefined ? {} : { shared: sharing(driver.shared) }),
    read: (path) => track(driver.read(path)),
    write: (path, stored) => track(driver.write(path, stored)),
    delete: (path) => track(driver.delete(path)),
    erase: (path) => track(driver.erase(path)),
    list: (prefix, whose) => track(driver.list(prefix, whose)),
    setAside: (path) => track(driver.setAside(path)),
    keep: (path, label) => track(driver.keep(path, label)),
    journal(path, guildId) {
      const medium = driver.journal(path, guildId);
      return {
        name: medium.name,
        read: () => track(medium.read()),
        add: (lines) => track(medium.add(lines)),
        replace: (lines) => track(medium.replace(lines)),
        get size() {
          return medium.size;
        },
        keepCopy: (label) => track(medium.keepCopy(label)),
        eraseCopies: (isConcerned) => track(medium.eraseCopies(isConcerned)),
        erase: () => track(medium.erase()),
        release: () => medium.release(),
      };
    },
  };
  return {
    driver: tracked,
    async idle() {
      const busy = underWay.size > 0;
      while (underWay.size > 0) await Promise.all(underWay);
      return busy;
    },
  };
}
