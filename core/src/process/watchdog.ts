import { Worker } from 'node:worker_threads';
import type { Logger } from '@cinnabar/sdk';

/** What the thread is given. */
export interface WatchdogData {
  /** One number, counted up by each beat. */
  readonly beats: SharedArrayBuffer;
}

/** A thread beside the main one: see `watchdog-thread.ts`. */
export interface Watchdog {
  /** A sign of life of the main thread, to be given several times a second. */
  beat(): void;
  /** No more beats are to be expected. The signals are listened to all the same. */
  rest(): void;
  /** What it has said goes to this log, too. */
  logTo(log: Logger): void;
}

const RESTING = -1;

/** Starts the watchdog. It keeps no process alive, and ends with it. */
export function startWatchdog(): Watchdog {
  const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const counter = new Int32Array(beats);
  let log: Logger | undefined;
  const thread = new Worker(new URL('./watchdog-thread.js', import.meta.url), {
    name: 'watchdog',
    workerData: { beats } satisfies WatchdogData,
    // For the signals.
    execArgv: ['--expose-internals', '--no-warnings'],
  });
  thread.on('message', (sentence: string) => log?.warn(sentence));
  thread.on('error', (error) => log?.error('there is no watchdog any more', { error }));
  thread.unref();
  return {
    beat: () => void Atomics.add(counter, 0, 1),
    rest: () => void Atomics.store(counter, 0, RESTING),
    logTo(logger) {
      log = logger;
    },
  };
}
