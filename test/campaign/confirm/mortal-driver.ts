import type { Driver } from '@cinnabar/core';

/** A disk as one process sees it: once the process is killed, nothing it does reaches the disk any more. */
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
