import type { Driver } from '@cinnabar/core';

/** A view of a disk for one process: after `kill`, its writes have no effect. */
export function createMortalDriver(disk: Driver): Driver & { kill(): void } {
  let dead = false;
  const alive = async <T>(act: () => Promise<T>): Promise<T> => {
    if (dead) throw new Error('the process was killed');
    return act();
  };
  return {
    ...disk,
    write: (path, stored) => alive(() => disk.write(path, stored)),
    delete: (path) => alive(() => disk.delete(path)),
    erase: (path) => alive(() => disk.erase(path)),
    kill() {
      dead = true;
    },
  };
}
