import { setFlagsFromString } from 'node:v8';

// V8 doubles the young generation when as much of it has survived as it holds. At the start of a bot nearly all objects survive, including its guilds, so the
// young generation would reach its maximum before the first message arrives, and hardly ever shrink again.

const USUAL = ['--semi-space-growth-factor=2', '--parallel-scavenge'];
// For a collection of so small a young generation, waking helper threads takes more processor time than they save.
const AT_START = ['--semi-space-growth-factor=1', '--no-parallel-scavenge'];
let isHeld = false;

function setFlags(flags: readonly string[]): void {
  for (const flag of flags) setFlagsFromString(flag);
}

/** Keeps V8's young generation at its present size until `releaseYoungGeneration`. Surviving objects are then moved to the old generation sooner. */
export function holdYoungGeneration(): void {
  isHeld = true;
  setFlags(AT_START);
}

/** Allows V8 to grow the young generation with the bot's work from now on. */
export function releaseYoungGeneration(): void {
  if (isHeld) setFlags(USUAL);
  isHeld = false;
}

/** Runs a task under the flags of the normal run: V8 accepts compiled code only under the flags under which it was made. */
export function underUsualFlags<T>(task: () => T): T {
  if (!isHeld) return task();
  setFlags(USUAL);
  try {
    return task();
  } finally {
    setFlags(AT_START);
  }
}
