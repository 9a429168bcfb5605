import { Worker } from 'node:worker_threads';
import type { Logger } from '@cinnabar/sdk';

/** The thread's parameters. */
export interface WatchdogData {
  /** A counter that each heartbeat increases. */
  readonly beats: SharedArrayBuffer;
}

/** A thread that detects when the main thread is blocked: see `watchdog-thread.ts`. */
export interface Watchdog {
  /** A heartbeat of the main thread, to be sent several times a second. */
  beat(): void;
  /** Stops expecting heartbeats. Signals are still handled. */
  rest(): void;
  /** Sets the log that gets the thread's reports, in addition to standard error. */
  logTo(log: Logger): void;
}

const RESTING = -1;

/** Starts the watchdog. It does not keep the process alive. */
export function startWatchdog(): Watchdog {
  const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const counter = new Int32Array(beats);
  let log: Logger | undefined;
  const thread = new Worker(new URL('./watchdog-thread.js', import.meta.url), {
    name: 'watchdog',
    workerData: { beats } satisfies WatchdogData,
    // For the internal binding of signals.
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
