import type { Logger } from '@cinnabar/sdk';
import type { Watchdog } from '../process/watchdog.js';

const BEAT_MS = 250;
const TOLERATED_MS = 500;

export interface BlockageWatch {
  /**
   * Notes that a plugin's synchronous code starts; pass the result to `leave`.
   * @param following nothing else has run since the last `leave`: reading the clock costs more than most handlers
   */
  enter(following: boolean): number;
  leave(plugin: string, label: string, started: number): void;
  /** From here on the event loop gives signs of life to the watchdog. */
  open(): void;
  /** From here on it is logged when the event loop stood still: starting up may take its time. */
  start(): void;
  stop(): void;
}

/**
 * Logs when the event loop stood still for more than 500 ms, with the plugin that held it: exactly when its handler's synchronous part
 * did, else the plugins that had work under way.
 * @param busy plugins with work under way
 * @param monotonic milliseconds of a clock that nobody sets; the real one, since it is the real event loop that is watched
 * @param watchdog says so while it stands still; this here can only tell afterwards
 */
export function watchBlockage(
  log: Logger,
  busy: () => readonly string[],
  monotonic: () => number,
  watchdog?: Pick<Watchdog, 'beat' | 'rest'>,
): BlockageWatch {
  let last = monotonic();
  let reportedUntil = 0;
  let left = last;
  let isReporting = false;
  const beat = () => {
    watchdog?.beat();
    if (isReporting) report();
  };
  const report = () => {
    const now = monotonic();
    const lateMs = now - last - BEAT_MS;
    last = now;
    if (lateMs <= TOLERATED_MS || reportedUntil > now - lateMs) return;
    log.warn(`the event loop stood still for ${Math.round(lateMs)} ms`, { plugins: busy() });
  };
  let timer: NodeJS.Timeout | undefined;

  return {
    enter: (following) => (following ? left : monotonic()),
    leave(plugin, label, started) {
      left = monotonic();
      if (left - started <= TOLERATED_MS) return;
      reportedUntil = left;
      log.warn(`${plugin} held the event loop for ${Math.round(left - started)} ms in ${label}`, { plugin });
    },
    open() {
      watchdog?.beat();
      timer ??= setInterval(beat, BEAT_MS);
      timer.unref();
    },
    start() {
      last = monotonic();
      isReporting = true;
    },
    stop() {
      watchdog?.rest();
      clearInterval(timer);
    },
  };
}
