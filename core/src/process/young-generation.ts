import { setFlagsFromString } from 'node:v8';

// V8 doubles the young generation whenever as much of it has survived as it holds. While a bot starts, nearly all that it makes survives, its guilds
// among it, so the young generation would be at its largest before the first message arrives, and hardly ever shrink again.

const GROWS = '--semi-space-growth-factor=2';
const STAYS = '--semi-space-growth-factor=1';
let isHeld = false;

/** Until `releaseYoungGeneration`, V8's young generation stays as large as it is. What survives then is moved to the old one sooner. */
export function holdYoungGeneration(): void {
  isHeld = true;
  setFlagsFromString(STAYS);
}

/** From here on V8 lets the young generation grow with what the bot has to do. */
export function releaseYoungGeneration(): void {
  if (isHeld) setFlagsFromString(GROWS);
  isHeld = false;
}

/** Runs a task under the flags that hold for the rest of the run: V8 takes compiled code only under the flags under which it was made. */
export function underUsualFlags<T>(task: () => T): T {
  if (!isHeld) return task();
  setFlagsFromString(GROWS);
  try {
    return task();
  } finally {
    setFlagsFromString(STAYS);
  }
}
