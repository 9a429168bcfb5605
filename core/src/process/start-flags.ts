import { setFlagsFromString } from 'node:v8';

interface Flag {
  readonly start: string;
  readonly usual: string;
}

/** How V8 runs while a bot starts, and its own defaults. */
const FLAGS: readonly Flag[] = [
  // V8 doubles the young generation when as much of it has survived as it holds. At the start of a bot nearly all objects survive, including its guilds, so the
  // young generation would reach its maximum before the first message arrives, and hardly ever shrink again.
  { start: '--semi-space-growth-factor=1', usual: '--semi-space-growth-factor=2' },
  // Node 20 would spend a fifth of a start's processor time, in other threads, on optimizing functions that are hardly called after the start. Later versions optimize
  // in smaller steps, and do not have this flag.
  ...(process.versions.node.startsWith('20.')
    ? [{ start: '--interrupt-budget=300000', usual: '--interrupt-budget=67584' }]
    : []),
];
let isStarting = false;

/**
 * Runs V8 for a start from now on, until `useUsualFlags`: with a young generation that keeps its present size, so that surviving objects are moved to the old
 * generation sooner, and with fewer functions optimized.
 */
export function useStartFlags(): void {
  isStarting = true;
  for (const { start } of FLAGS) setFlagsFromString(start);
}

/** Runs V8 with its defaults from now on: it optimizes, and the young generation grows, as the bot's work requires. */
export function useUsualFlags(): void {
  if (isStarting) for (const { usual } of FLAGS) setFlagsFromString(usual);
  isStarting = false;
}

/** Runs a task under the flags of the normal run: V8 accepts compiled code only under the flags under which it was made. */
export function underUsualFlags<T>(task: () => T): T {
  if (!isStarting) return task();
  useUsualFlags();
  try {
    return task();
  } finally {
    useStartFlags();
  }
}
