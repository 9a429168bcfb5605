import type { Driver } from '@cinnabar/core';
import type { Dice } from './dice.js';

/** A disk on which each write takes as long as the campaign likes, and which can be pulled out. */
export interface SlowDriver extends Driver {
  /** Carries out one of the waiting writes, or makes it fail. `false` when none waits. */
  step(): boolean;
  /** What waits is lost, and whoever waits for it waits for ever: the process is dead. */
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
