import type { Clock } from '@cinnabar/sdk';
import { until } from './control.js';

/** Resolves after `delayMs`. @throws Interrupted as soon as `signal` aborts */
export async function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (delayMs <= 0) return;
  let cancel = () => {};
  const passed = new Promise<void>((resolve) => {
    cancel = clock.after(delayMs, resolve);
  });
  try {
    await until(passed, signal);
  } finally {
    cancel();
  }
}
