import type { Driver } from '@cinnabar/core';
import type { Dice } from './dice.js';

/** A disk on which the campaign controls the duration of each write, and which can fail. */
interface SlowDriver extends Driver {
  /** Executes one of the waiting writes, or makes it fail. Returns `false` when none waits. */
  step(): boolean;
  /** Drops the waiting writes, whose promises never settle: the process is dead. */
  crash(): void;
  readonly failures: number;
}

export function createSlowDriver(disk: Driver, dice: Dice, failing: number): SlowDriver {
  let dead = false;
  let failures = 0;
  let waiting: (() => void)[] = [];

  const later = (write: () => Promise<void>) =>
    new Promise<void>((resolve, reject) => {
      if (dead) return;
      waiting.push(() => {
        if (!dice.chance(failing)) return void write().then(resolve, reject);
        failures += 1;
        reject(new Error('disk full'));
      });
    });

  return {
    ...disk,
    write: (path, stored) => later(() => disk.write(path, stored)),
    delete: (path) => later(() => disk.delete(path)),
    step() {
      const [write] = waiting.splice(dice.between(0, Math.max(0, waiting.length - 1)), 1);
      write?.();
      return write !== undefined;
    },
    crash() {
      dead = true;
      waiting = [];
    },
    get failures() {
      return failures;
    },
  };
}
