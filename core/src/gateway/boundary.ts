import { AsyncLocalStorage } from 'node:async_hooks';
import {
  afterGrace,
  CinnabarError,
  type Clock,
  type Logger,
  type Outgoing,
  type OwnerAlert,
  sentenceOf,
  t,
} from '@cinnabar/sdk';
import type { Boundary, Owner } from '../contracts.js';
import type { Watchdog } from '../process/watchdog.js';

interface Dependencies {
  readonly clock: Clock;
  readonly log: Logger;
  readonly inFlight: InFlight;
  readonly blockage: BlockageWatch;
  /** Whether Discord or the connection to it failed, and not the plugin. */
  readonly isDiscordFailure: (error: unknown) => boolean;
  /** Sends notices to the bot's owners. */
  readonly alert: (alert: OwnerAlert) => void;
}

/** Builds the error boundary around plugin code: see `Boundary`. */
export function createBoundary({ clock, log, inFlight, blockage, isDiscordFailure, alert }: Dependencies): Boundary {
  const suspensions = createSuspensions(clock);

  const fail = (owner: Owner, guildId: string | null, label: string, error: unknown) => {
    if (isDiscordFailure(error)) {
      owner.log.warn(`${label} failed because Discord did, or could not be reached`, { error, guildId });
      return;
    }
    owner.log.error(`${label} failed`, {
      error,
      guildId,
      ...(sentenceOf(error) === undefined ? {} : { expected: true }),
    });
    if (suspensions.count(owner.id, guildId)) {
      log.warn(`${owner.id} failed 10 times within a minute; its listeners pause for a minute in this guild`, {
        plugin: owner.id,
        guildId,
      });
      alert({
        kind: 'plugin-suspended',
        text: () =>
          guildId === null
            ? t(
                'The plugin {plugin} failed 10 times within a minute in direct messages; its listeners pause there for a minute.',
                { plugin: owner.id },
              )
            : t(
                'The plugin {plugin} failed 10 times within a minute in the server {server}; its listeners pause there for a minute.',
                { plugin: owner.id, server: guildId },
              ),
        remedy: () =>
          t('The error log has the reason; until it is mended, `!plugin disable {plugin}` keeps it quiet.', {
            plugin: owner.id,
          }),
      });
    }
  };

  return {
    run(owner, guildId, label, task, following = false) {
      const started = blockage.enter(following);
      let result: unknown;
      try {
        result = runAs(owner.id, label, task);
      } catch (error) {
        fail(owner, guildId, label, error);
        return;
      } finally {
        blockage.leave(owner.id, label, started);
      }
      if (!isThenable(result)) return;
      inFlight.enter(owner.id);
      return settle(
        result,
        (error) => fail(owner, guildId, label, error),
        () => inFlight.leave(owner.id),
      );
    },
    async track(owner, task) {
      inFlight.enter(owner.id);
      try {
        return await runAs(owner.id, 'a tool, an answer or an interceptor', task);
      } finally {
        inFlight.leave(owner.id);
      }
    },
    suspend: suspensions.suspend,
    suspended: suspensions.active,
    inFlight: inFlight.count,
    drained: inFlight.drained,
  };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

async function settle(
  result: PromiseLike<unknown>,
  onError: (error: unknown) => void,
  onEnd: () => void,
): Promise<void> {
  try {
    await result;
  } catch (error) {
    onError(error);
  } finally {
    onEnd();
  }
}

export type InFlight = ReturnType<typeof createInFlight>;

/** Counts the running handlers, by plugin. */
export function createInFlight(clock: Clock) {
  const counts = new Map<string, number>();
  const waiting = new Set<() => void>();
  let total = 0;
  const count = (plugin?: string) => (plugin === undefined ? total : (counts.get(plugin) ?? 0));

  return {
    enter(plugin: string): void {
      total += 1;
      counts.set(plugin, (counts.get(plugin) ?? 0) + 1);
    },
    leave(plugin: string): void {
      total -= 1;
      const left = (counts.get(plugin) ?? 1) - 1;
      if (left > 0) counts.set(plugin, left);
      else counts.delete(plugin);
      for (const check of waiting) check();
    },
    count,
    /** Plugins with running handlers. */
    busy: (): readonly string[] => [...counts.keys()],
    /** Resolves with `true` when nothing (of the plugin) is running, `false` when `timeoutMs` passed first. */
    drained(timeoutMs: number, plugin?: string): Promise<boolean> {
      if (count(plugin) === 0) return Promise.resolve(true);
      return new Promise((resolve) => {
        const finish = (result: boolean) => {
          cancel();
          waiting.delete(check);
          resolve(result);
        };
        const check = () => {
          if (count(plugin) === 0) finish(true);
        };
        const cancel = clock.after(timeoutMs, () => finish(false));
        waiting.add(check);
      });
    },
  };
}

const WINDOW_MS = 60_000;
const LIMIT = 10;
const PAUSE_MS = 60_000;
/** Above this number of plugins and guilds with errors, those without recent ones are removed. */
const FEW = 100;

const EVERYWHERE = '*';

/** Suspends a plugin's listeners in a guild for a minute after ten errors there within a minute. */
function createSuspensions(clock: Clock) {
  const errors = new Map<string, number[]>();
  const until = new Map<string, number>();
  const holds = (place: string): boolean => {
    const end = until.get(place);
    if (end === undefined) return false;
    if (clock.now() < end) return true;
    until.delete(place);
    return false;
  };
  /** Drops errors that no longer count, of plugins and guilds without newer ones. */
  const forgetOld = (now: number) => {
    if (errors.size <= FEW) return;
    for (const [place, times] of errors) if (times.every((at) => now - at >= WINDOW_MS)) errors.delete(place);
  };
  const key = (plugin: string, guildId: string | null) => `${plugin} ${guildId ?? 'dm'}`;

  return {
    /** Counts an error. @returns whether the plugin is suspended because of it */
    count(plugin: string, guildId: string | null): boolean {
      const place = key(plugin, guildId);
      const now = clock.now();
      const recent = (errors.get(place) ?? []).filter((at) => now - at < WINDOW_MS);
      recent.push(now);
      if (recent.length < LIMIT) {
        forgetOld(now);
        errors.set(place, recent);
        return false;
      }
      errors.delete(place);
      until.set(place, now + PAUSE_MS);
      return true;
    },
    /** Suspends a plugin everywhere for a minute. */
    suspend(plugin: string): void {
      until.set(key(plugin, EVERYWHERE), clock.now() + PAUSE_MS);
    },
    active(plugin: string, guildId: string | null): boolean {
      // Usually no plugin is suspended: then no key is built.
      if (until.size === 0) return false;
      return holds(key(plugin, guildId)) || holds(key(plugin, EVERYWHERE));
    },
  };
}

const BEAT_MS = 250;
const TOLERATED_MS = 500;

export type BlockageWatch = ReturnType<typeof watchBlockage>;

/**
 * Logs when the event loop was blocked for more than 500 ms, with the plugin that blocked it when its handler's synchronous part did, otherwise with the
 * plugins that had running handlers.
 * @param busy the plugins with running handlers
 * @param monotonic milliseconds of a monotonic clock; not the injected one, since the real event loop is measured
 * @param watchdog reports while the event loop is blocked; this function can only report afterwards
 */
export function watchBlockage(
  log: Logger,
  busy: () => readonly string[],
  monotonic: () => number,
  watchdog?: Pick<Watchdog, 'beat' | 'rest'>,
) {
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
    /**
     * Called when a plugin's synchronous code starts. Pass the returned time to `leave`.
     * @param following nothing else has run since the last `leave`, whose time is then used: reading the clock costs more than most handlers
     */
    enter: (following: boolean): number => (following ? left : monotonic()),
    leave(plugin: string, label: string, started: number): void {
      left = monotonic();
      if (left - started <= TOLERATED_MS) return;
      reportedUntil = left;
      log.warn(`${plugin} held the event loop for ${Math.round(left - started)} ms in ${label}`, { plugin });
    },
    /** Starts sending heartbeats to the watchdog while the event loop runs. */
    open(): void {
      watchdog?.beat();
      timer ??= setInterval(beat, BEAT_MS);
      timer.unref();
    },
    /** Starts logging blocked event loops: during start-up they are normal. */
    start(): void {
      last = monotonic();
      isReporting = true;
    },
    stop(): void {
      watchdog?.rest();
      clearInterval(timer);
    },
  };
}

/** How long work may continue after its plugin's signal has aborted before its caller gets an answer without it. */
const GRACE_MS = 1_000;

/** The callbacks of each signal, which has one listener for all of them: adding a listener costs more than a small command. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Waits for `work` while its plugin runs. After the signal has aborted, any failure counts as caused by that, and the wait is short, since the work may ignore
 * the signal.
 * @param outgoing the answers of the work: one that is on its way is waited for
 * @throws CINNABAR_INTERRUPTED, or the error of `work` while the plugin runs
 */
export function untilInterrupted<T>(
  signal: AbortSignal,
  clock: Clock,
  work: Promise<T>,
  outgoing: Pick<Outgoing, 'arrival'>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let cancel: () => void = () => undefined;
    const interrupt = () => {
      cancel = afterGrace(clock, GRACE_MS, outgoing, () => reject(new CinnabarError('CINNABAR_INTERRUPTED')));
    };
    const callbacks = callbacksOf(signal);
    callbacks.add(interrupt);
    if (signal.aborted) interrupt();
    work
      .then(resolve, (error: unknown) =>
        reject(signal.aborted ? new CinnabarError('CINNABAR_INTERRUPTED', {}, { cause: error }) : error),
      )
      .finally(() => {
        callbacks.delete(interrupt);
        cancel();
      });
  });
}

function callbacksOf(signal: AbortSignal): Set<() => void> {
  const known = waiting.get(signal);
  if (known !== undefined) return known;
  const callbacks = new Set<() => void>();
  waiting.set(signal, callbacks);
  signal.addEventListener('abort', () => callbacks.forEach((callback) => void callback()), { once: true });
  return callbacks;
}

/**
 * Holds the plugin's id and no object: a socket in a pool or a timer that a plugin has left keeps this value, and must not keep the plugin's code in memory.
 */
const running = new AsyncLocalStorage<string>();

/** The plugin that started the current asynchronous work, as far as that is tracked. */
export const runningPlugin = (): string | undefined => running.getStore();

/** On older versions of Node, tracking costs a fifth of the processor time of a message: Node then follows every promise and callback of the process. */
const CHEAP_SINCE = 24;

let tracking = Number.parseInt(process.versions.node, 10) >= CHEAP_SINCE;

/**
 * Runs a plugin's code, so that timers, sockets and promises that it leaves can be attributed to it: always when Node tracks them at no cost, otherwise after
 * `trackOrigins` was called.
 * @param label the part of the plugin that runs, for the watchdog: `setup`, `command roll`
 */
export function runAs<T>(plugin: string, label: string, task: () => T): T {
  return tracking ? running.run(plugin, during, plugin, label, task) : during(plugin, label, task);
}

/** Starts tracking the origin of asynchronous work in the whole process. @returns a function that stops it, without effect where tracking costs nothing */
export function trackOrigins(): () => void {
  if (tracking) return () => undefined;
  tracking = true;
  return () => {
    tracking = false;
    running.disable();
  };
}

/** The current activity of the main thread. The watchdog's thread reads it through the inspector, so it is global. */
export interface Doing {
  /** The plugin whose code runs at the moment; empty for the host's code. */
  plugin: string;
  /** The part that runs: `setup`, `command roll`. */
  label: string;
  /** The current step of the plugin lifecycle, also while it waits: `the setup of dice`. */
  change: string;
}

declare global {
  var cinnabarDoing: Doing | undefined;
}

export const doing: Doing = { plugin: '', label: '', change: '' };
globalThis.cinnabarDoing = doing;

/** Records the owner of the code during the synchronous part of `task`. */
export function during<T>(plugin: string, label: string, task: () => T): T {
  const outer = doing.plugin;
  const outerLabel = doing.label;
  doing.plugin = plugin;
  doing.label = label;
  try {
    return task();
  } finally {
    doing.plugin = outer;
    doing.label = outerLabel;
  }
}

/** For a host that shares its process. */
export const NO_WATCHDOG: Watchdog = { beat: () => undefined, rest: () => undefined, logTo: () => undefined };
