import { AsyncLocalStorage } from 'node:async_hooks';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Only the id: whatever a plugin leaves behind (a socket in a pool, a timer) keeps this, and must not keep its code. */
const running = new AsyncLocalStorage<string>();

/** Before, tracking costs a fifth of the processor time of a message: Node then follows every promise and callback of the process. */
const CHEAP_SINCE = 24;
let tracking = Number.parseInt(process.versions.node, 10) >= CHEAP_SINCE;

/**
 * Runs a plugin's code, so that the timers, sockets and promises that it leaves behind are known to be its own: always where Node tracks them
 * at no cost, else once `trackOrigins` was called.
 * @param label what of it runs, for the watchdog: `setup`, `command roll`
 */
export function runAs<T>(plugin: string, label: string, task: () => T): T {
  return tracking ? running.run(plugin, during, plugin, label, task) : during(plugin, label, task);
}

/** From here on, what a plugin begins is tracked for the whole process. @returns ends it, where it costs something */
export function trackOrigins(): () => void {
  if (tracking) return () => undefined;
  tracking = true;
  return () => {
    tracking = false;
    running.disable();
  };
}

/** Where an error comes from. */
export interface ErrorOrigin {
  readonly plugin: string;
  /** `/plugins/dice/index.ts:12:5`, when the plugin's own code is on the stack. */
  readonly at: string | undefined;
}

/** A plugin's id and the folder of its sources. */
export interface PluginFolder {
  readonly id: string;
  readonly path: string;
}

/**
 * The plugin whose code threw an error: the first on its stack or on that of its causes, else the one that began what the process is at now.
 * To be called where the error arrives (`uncaughtException`, `unhandledRejection`), in its asynchronous context.
 */
export function originOf(error: unknown, plugins: readonly PluginFolder[]): ErrorOrigin | undefined {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth += 1) {
    const origin = originOfStack(one.stack ?? '', plugins);
    if (origin !== undefined) return origin;
  }
  const plugin = running.getStore();
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

/** What the main thread is at. Read by the watchdog's thread through the inspector, hence global. */
export interface Doing {
  /** Whose code runs at the moment; empty when it is the host's own. */
  plugin: string;
  /** What of it: `setup`, `command roll`. */
  label: string;
  /** What the lifecycle of plugins is at, also while it waits: `the setup of dice`. */
  change: string;
}

declare global {
  var cinnabarDoing: Doing | undefined;
}

export const doing: Doing = { plugin: '', label: '', change: '' };
globalThis.cinnabarDoing = doing;

/** Notes for the synchronous part of `task` whose code it is. */
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
