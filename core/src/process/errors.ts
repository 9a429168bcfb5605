import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Clock, type Logger, type OwnerAlert, t } from '@cinnabar/sdk';
import type { Boundary } from '../contracts.js';
import { runningPlugin, trackOrigins } from '../gateway/boundary.js';

/** Where an error comes from. */
interface ErrorOrigin {
  readonly plugin: string;
  /** `/plugins/dice/index.ts:12:5`, when the plugin's own code is on the stack. */
  readonly at: string | undefined;
}

/** A plugin's id and the folder of its sources. */
interface PluginFolder {
  readonly id: string;
  readonly path: string;
}

/**
 * The plugin whose code threw an error: the first on its stack or on that of its causes, else the one that began what the process is at now.
 * To be called where the error arrives (`uncaughtException`, `unhandledRejection`), in its asynchronous context.
 */
function originOf(error: unknown, plugins: readonly PluginFolder[]): ErrorOrigin | undefined {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth += 1) {
    const origin = originOfStack(one.stack ?? '', plugins);
    if (origin !== undefined) return origin;
  }
  const plugin = runningPlugin();
  return plugin === undefined ? undefined : { plugin, at: undefined };
}

/**
 * `at name (/path/index.ts:3:7)`, `at /path/index.ts:3:7`, `at async file:///path/index.js:3:7`. Longer lines belong to a message, perhaps a
 * stranger's: the time that they take grows with the square of their length.
 */
const FRAME = /^ +at (?=.{0,1000}$).*?(?:\(|async )?((?:file:\/\/|\/|[A-Za-z]:\\).*?):(\d+):(\d+)\)?$/gm;

/** The first frame that is in a plugin's folder. Dependencies in there are the plugin's, too. */
export function originOfStack(stack: string, plugins: readonly PluginFolder[]): ErrorOrigin | undefined {
  for (const [, place = '', line, column] of stack.matchAll(FRAME)) {
    const file = pathOf(place);
    const inside = plugins.filter(({ path }) => file.startsWith(path.endsWith(sep) ? path : path + sep));
    // A folder of plugins may itself be in one.
    const [nearest] = inside.sort((a, b) => b.path.length - a.path.length);
    if (nearest !== undefined) return { plugin: nearest.id, at: `${file}:${line}:${column}` };
  }
  return undefined;
}

/** A message that quotes another machine's stack may name an address that is no file of this one. */
function pathOf(place: string): string {
  if (!place.startsWith('file://')) return place;
  try {
    return fileURLToPath(place);
  } catch {
    return place;
  }
}

const WINDOW_MS = 60_000;
/** A bare timer can fail a thousand times a second: of each plugin, only so many errors a minute are logged one by one. */
const LOGGED = 10;
/** For how long after an error of unknown origin the origin of timers, sockets and promises is tracked. */
const TRACKED_MS = 60 * 60_000;

export type UncaughtKind = 'exception' | 'rejection';

interface UncaughtDependencies {
  /** Those that are known, running or not. */
  readonly plugins: () => readonly PluginFolder[];
  readonly boundary: Pick<Boundary, 'suspend'>;
  readonly alert: (alert: OwnerAlert) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What an origin has thrown within the last minute. */
interface Window {
  readonly from: number;
  count: number;
}

/**
 * Builds what is done about an error that nothing caught: a bare callback's, an emitter's or a stream's, a promise's that nothing waits for. It
 * is logged with the plugin and the line of its source, and costs that plugin a minute of its listeners. What is no plugin's is logged, and the
 * bot goes on: its state is on the disk before it is announced, so there is nothing that a restart would mend.
 */
export function createUncaught({ plugins, boundary, alert, clock, log }: UncaughtDependencies) {
  const windows = new Map<string, Window>();
  let isTracking = false;

  /** An error of the system (`ECONNREFUSED`) has no line of the plugin: the next one will be known by what opened the socket. */
  const track = () => {
    if (isTracking) return;
    isTracking = true;
    const stop = trackOrigins();
    clock.after(TRACKED_MS, () => {
      isTracking = false;
      stop();
    });
  };

  /** Which one of its origin it is within a minute. */
  const count = (origin: string): number => {
    const now = clock.now();
    const window = windows.get(origin);
    if (window !== undefined && now - window.from < WINDOW_MS) return ++window.count;
    if (window !== undefined && window.count > LOGGED)
      log.error(`${origin}: ${window.count - LOGGED} more errors that nothing caught within a minute`);
    windows.set(origin, { from: now, count: 1 });
    return 1;
  };

  const report = ({ plugin, at }: ErrorOrigin, kind: UncaughtKind, error: unknown) => {
    boundary.suspend(plugin);
    const place = at === undefined ? '' : ` at ${at}`;
    const nth = count(plugin);
    if (nth <= LOGGED) {
      log.error(`${plugin}: uncaught ${kind}${place}; its listeners pause for a minute`, { plugin, error });
    }
    if (nth > 1) return;
    alert({
      kind: 'plugin-suspended',
      text: () =>
        at === undefined
          ? t(
              'The plugin {plugin} threw an error outside of its handlers ({error}); its listeners pause for a minute everywhere.',
              { plugin, error: messageOf(error) },
            )
          : t(
              'The plugin {plugin} threw an error outside of its handlers at {place} ({error}); its listeners pause for a minute everywhere.',
              { plugin, place: at, error: messageOf(error) },
            ),
      remedy: () =>
        t('The error log has the stack. Until it is mended, `!plugin unload {plugin}` stops it.', { plugin }),
    });
  };

  return (error: unknown, kind: UncaughtKind): void => {
    const origin = originOf(error, plugins());
    if (origin !== undefined) {
      report(origin, kind, error);
      return;
    }
    track();
    const nth = count('host');
    if (nth <= LOGGED) log.error(`uncaught ${kind} outside of any plugin; the bot goes on`, { error });
    if (nth > 1) return;
    alert({
      kind: 'uncaught-error',
      text: () => t('Something failed outside of any plugin ({error}); the bot goes on.', { error: messageOf(error) }),
      remedy: () => t('The error log has the stack. If the bot behaves oddly, restart it.'),
    });
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

type Guarded = Pick<NodeJS.Process, 'on' | 'off' | 'stdout' | 'stderr'>;

/**
 * Keeps the process alive when something throws that nothing catches, and when the terminal is gone that it writes to.
 * @returns a function that takes the guard away
 */
export function guardProcess(process: Guarded, report: (error: unknown, kind: UncaughtKind) => void): () => void {
  const onException = (error: unknown) => report(error, 'exception');
  const onRejection = (error: unknown) => report(error, 'rejection');
  // The log writes to the terminal: what fails there must not be logged again.
  const ignore = () => undefined;
  process.on('uncaughtException', onException);
  process.on('unhandledRejection', onRejection);
  process.stdout.on('error', ignore);
  process.stderr.on('error', ignore);
  return () => {
    process.off('uncaughtException', onException);
    process.off('unhandledRejection', onRejection);
    process.stdout.off('error', ignore);
    process.stderr.off('error', ignore);
  };
}
