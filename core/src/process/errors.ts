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
 * The plugin whose code threw an error: the first on the stack of the error or its causes, otherwise the one that started the current asynchronous work. To be
 * called in the handler of `uncaughtException` or `unhandledRejection`, which has the asynchronous context of the error.
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
    // The innermost folder, since the folder of one plugin may contain that of another.
    const [nearest] = inside.sort((a, b) => b.path.length - a.path.length);
    if (nearest !== undefined) return { plugin: nearest.id, at: `${file}:${line}:${column}` };
  }
  return undefined;
}

/** The path of a frame. Unchanged when it cannot be converted: a message may quote the stack of another machine. */
function pathOf(place: string): string {
  if (!place.startsWith('file://')) return place;
  try {
    return fileURLToPath(place);
  } catch {
    return place;
  }
}

const WINDOW_MS = 60_000;
/** The number of errors of each plugin that are logged one by one in a minute: a bare timer can fail a thousand times a second. */
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

  /** Tracks origins for an hour: the next system error (`ECONNREFUSED`), which has no line of a plugin, is attributed to the plugin that opened the socket. */
  const track = () => {
    if (isTracking) return;
    isTracking = true;
    const stop = trackOrigins();
    clock.after(TRACKED_MS, () => {
      isTracking = false;
      stop();
    });
  };

  /** Counts an error. @returns its number among the errors of its origin within a minute */
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
  // Errors of the terminal are ignored, since logging them would write to the terminal again.
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
