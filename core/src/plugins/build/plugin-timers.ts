import { promisify } from 'node:util';

type Task = (...args: unknown[]) => unknown;
type Kind = 'setTimeout' | 'setInterval' | 'setImmediate';
type Timer = NodeJS.Timeout | NodeJS.Immediate;

/** The replacements of Node's global timers in a bundle. */
export interface TimerFunctions {
  readonly setTimeout: (task: Task, ms?: number, ...args: unknown[]) => NodeJS.Timeout;
  readonly setInterval: (task: Task, ms?: number, ...args: unknown[]) => NodeJS.Timeout;
  readonly setImmediate: (task: Task, ...args: unknown[]) => NodeJS.Immediate;
  readonly clearTimeout: (timer: unknown) => void;
  readonly clearInterval: (timer: unknown) => void;
  readonly clearImmediate: (timer: unknown) => void;
}

/** The timers that the code of one evaluated plugin has set without the scope's `every` and `after`. */
export interface PluginTimers {
  readonly functions: TimerFunctions;
  /** Called when a run of the plugin begins: allows timers again after `close`. They are also allowed before the first run. */
  open(): void;
  /** Clears the remaining timers, and new ones until the next run. Returns the remaining ones, for people: `setInterval 1000 ms, src/index.ts:7:3`. */
  close(): readonly string[];
}

interface Live {
  readonly timer: Timer;
  readonly what: string;
  /** Its stack shows where it was set; formatted only on demand. */
  readonly place: Error;
}

export const TIMER_NAMES = [
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
] as const satisfies readonly (keyof TimerFunctions)[];

/** Makes the timers of one plugin. The `functions` behave like those of Node. */
export function createPluginTimers(): PluginTimers {
  const live = new Map<Timer, Live>();
  let closed = false;

  const keep = <T extends Timer>(timer: T, what: string): T => {
    if (closed) clear(timer);
    else live.set(timer, { timer, what, place: new Error('set here') });
    return timer;
  };
  const clear = (timer: Timer) => {
    live.delete(timer);
    if ('refresh' in timer) clearTimeout(timer);
    else clearImmediate(timer);
  };
  const clearAny = (given: unknown) => {
    // Node also accepts a timer's number.
    const found = [...live.keys()].find(
      (timer) => timer === given || ('refresh' in timer && Number(timer) === Number(given)),
    );
    if (found !== undefined) clear(found);
  };
  const once = (ms: number | undefined, task: Task, args: unknown[]): NodeJS.Timeout => {
    const timer: NodeJS.Timeout = setTimeout(() => {
      live.delete(timer);
      task(...args);
    }, ms);
    return keep(timer, named('setTimeout', ms));
  };
  const soon = (task: Task, args: unknown[]): NodeJS.Immediate => {
    const timer: NodeJS.Immediate = setImmediate(() => {
      live.delete(timer);
      task(...args);
    });
    return keep(timer, 'setImmediate');
  };
  const functions = {
    setTimeout: withPromise(
      (task: Task, ms?: number, ...args: unknown[]) => once(ms, task, args),
      (ms?: number, value?: unknown) => new Promise((resolve) => once(ms, () => resolve(value), [])),
    ),
    setInterval: (task: Task, ms?: number, ...args: unknown[]) =>
      keep(setInterval(task, ms, ...args), named('setInterval', ms)),
    setImmediate: withPromise(
      (task: Task, ...args: unknown[]) => soon(task, args),
      (value?: unknown) => new Promise((resolve) => soon(() => resolve(value), [])),
    ),
    clearTimeout: clearAny,
    clearInterval: clearAny,
    clearImmediate: clearAny,
  };
  return {
    functions,
    open() {
      closed = false;
    },
    close() {
      closed = true;
      const left = [...live.values()];
      for (const { timer } of left) clear(timer);
      return left.map(({ what, place }) => [what, placeOf(place)].filter((part) => part !== '').join(', '));
    },
  };
}

function named(kind: Kind, ms = 0): string {
  return `${kind} ${ms} ms`;
}

/** Adds the variant for `promisify`, as Node's timers have it. */
function withPromise<F extends object>(plain: F, promised: object): F {
  Object.defineProperty(plain, promisify.custom, { value: promised });
  return plain;
}

/** The first line of the stack outside this file, without its folder. */
function placeOf({ stack = '' }: Error): string {
  const line = stack
    .split('\n')
    .slice(1)
    .find((one) => !one.includes('plugin-timers'));
  return /(?:[^\s()/\\]+[/\\])?[^\s()/\\]+:\d+:\d+/.exec(line ?? '')?.[0] ?? '';
}
