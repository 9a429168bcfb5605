import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';

// V8 doubles the young generation when as much of it has survived as it holds. At the start of a bot nearly all objects survive, including its guilds, so the
// young generation would reach its maximum before the first message arrives, and hardly ever shrink again.

const GROWS = '--semi-space-growth-factor=2';
const STAYS = '--semi-space-growth-factor=1';
/** A bot with thousands of guilds copies so many of their objects that a larger young generation pays; a heap of this size is one of them. */
const MANY_GUILDS_BYTES = 80 * 1024 * 1024;
const GROWS_ONCE = '--semi-space-growth-factor=4';
const LOOK_EVERY_MS = 25;

/** While it is held: the flag, and what looks at the heap. */
let held: { flag: string; readonly looking: NodeJS.Timeout } | undefined;

/**
 * Keeps V8's young generation at its present size until `releaseYoungGeneration`; with thousands of guilds it may grow once. Surviving objects are then moved to
 * the old generation sooner.
 */
export function holdYoungGeneration(): void {
  let before: number | undefined;
  const look = () => {
    if (before === undefined) {
      if (getHeapStatistics().used_heap_size < MANY_GUILDS_BYTES) return;
      before = youngBytes();
      hold(GROWS_ONCE);
    } else if (youngBytes() > before) {
      hold(STAYS);
      clearInterval(held?.looking);
    }
  };
  held = { flag: STAYS, looking: setInterval(look, LOOK_EVERY_MS).unref() };
  hold(STAYS);
}

/** Allows V8 to grow the young generation with the bot's work from now on. */
export function releaseYoungGeneration(): void {
  if (held === undefined) return;
  clearInterval(held.looking);
  held = undefined;
  setFlagsFromString(GROWS);
}

/** Runs a task under the flags of the normal run: V8 accepts compiled code only under the flags under which it was made. */
export function underUsualFlags<T>(task: () => T): T {
  if (held === undefined) return task();
  setFlagsFromString(GROWS);
  try {
    return task();
  } finally {
    setFlagsFromString(held.flag);
  }
}

function hold(flag: string): void {
  if (held === undefined) return;
  held.flag = flag;
  setFlagsFromString(flag);
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
}
