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
