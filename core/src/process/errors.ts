import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Clock, type Logger, type OwnerAlert, t } from '@cinnabar/sdk';
import type { Boundary } from '../contracts.js';
import { runningPlugin, trackOrigins } from '../gateway/boundary.js';

/** The origin of an error. */
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
 * The plugin whose code threw an error: the first on its stack or on that of its causes, otherwise the one that started the current asynchronous work. To be
 * called where the error arrives (`uncaughtException`, `unhandledRejection`), in its asynchronous context.
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
 * `at name (/path/index.ts:3:7)`, `at /path/index.ts:3:7`, `at async file:///path/index.js:3:7`. Longer lines belong to a message, possibly from outside;
 * matching them takes time in the square of their length.
 */
const FRAME = /^ +at (?=.{0,1000}$).*?(?:\(|async )?((?:file:\/\/|\/|[A-Za-z]:\\).*?):(\d+):(\d+)\)?$/gm;

/** The first frame in a plugin's folder. Dependencies in there count as the plugin's. */
export function originOfStack(stack: string, plugins: readonly PluginFolder[]): ErrorOrigin | undefined {
  for (const [, place = '', line, column] of stack.matchAll(FRAME)) {
    const file = pathOf(place);
    const inside = plugins.filter(({ path }) => file.startsWith(path.endsWith(sep) ? path : path + sep));
    // One folder of plugins may contain another.
    const [nearest] = inside.sort((a, b) => b.path.length - a.path.length);
    if (nearest !== undefined) return { plugin: nearest.id, at: `${file}:${line}:${column}` };
  }
  return undefined;
}

/** A message that quotes another machine's stack may contain a path that does not exist here. */
function pathOf(place: string): string {
  if (!place.startsWith('file://')) return place;
  try {
    return fileURLToPath(place);
  } catch {
    return place;
  }
}

const WINDOW_MS = 60_000;
/** A bare timer can fail a thousand times a second: only this many errors of each plugin are logged one by one in a minute. */
const LOGGED = 10;
/** How long the origin of timers, sockets and promises is tracked after an error of unknown origin. */
const TRACKED_MS = 60 * 60_000;

export type UncaughtKind = 'exception' | 'rejection';

interface UncaughtDependencies {
  /** The known plugins, running or not. */
  readonly plugins: () => readonly PluginFolder[];
  readonly boundary: Pick<Boundary, 'suspend'>;
  readonly alert: (alert: OwnerAlert) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The errors of one origin within the last minute. */
interface Window {
  readonly from: number;
  count: number;
}

/**
 * Builds the handler of uncaught errors: from a bare callback, an emitter or a stream, or a promise that nothing awaits. The error is logged with the plugin
 * and its source line, and that plugin's listeners are suspended for a minute. An error without a plugin is logged, and the bot continues: its state is written
 * to the disk before it is announced, so a restart would repair nothing.
 */
export function createUncaught({ plugins, boundary, alert, clock, log }: UncaughtDependencies) {
  const windows = new Map<string, Window>();
  let isTracking = false;

  /** A system error (`ECONNREFUSED`) has no line of the plugin: with tracking, the next one is attributed to the plugin that opened the socket. */
  const track = () => {
    if (isTracking) return;
    isTracking = true;
    const stop = trackOrigins();
    clock.after(TRACKED_MS, () => {
      isTracking = false;
      stop();
    });
  };

  /** Its number among the errors of its origin within a minute. */
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
      text: () =>
        t('An error occurred outside of any plugin ({error}); the bot keeps running.', { error: messageOf(error) }),
      remedy: () => t('The error log has the stack. If the bot behaves oddly, restart it.'),
    });
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

type Guarded = Pick<NodeJS.Process, 'on' | 'off' | 'stdout' | 'stderr'>;

/**
 * Keeps the process alive after uncaught errors, and when its terminal is closed.
 * @returns a function that removes the handlers
 */
export function guardProcess(process: Guarded, report: (error: unknown, kind: UncaughtKind) => void): () => void {
  const onException = (error: unknown) => report(error, 'exception');
  const onRejection = (error: unknown) => report(error, 'rejection');
  // The log writes to the terminal: its errors must not be logged again.
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
