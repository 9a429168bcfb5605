import { watch } from 'node:fs';

/** Calls `onChange` when something happens in a folder, maybe more than once for one change. Returns how to stop; `undefined` when it cannot be watched. */
export type WatchFolder = (folder: string, onChange: () => void) => (() => void) | undefined;

/** The operating system's own notices. They keep no process alive, and where there are none (some network drives) a look at use does. */
export const watchFolder: WatchFolder = (folder, onChange) => {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    // A watched folder that goes away is an error on some systems.
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    // No such folder, or no more watches to be had.
    return undefined;
  }
};
