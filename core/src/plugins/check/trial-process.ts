/** Runs in a separate process: tries a plugin, reports its progress, and ends with the findings. */
import { bundleDirOf } from '../../bundling/built.js';
import { openHostBundle } from '../../bundling/run-host.js';
import type { TrialResult, TrialTask } from './trial.js';

// Few imports: the host comes from its bundle when that is up to date, and otherwise from its own files.

export type TrialMessage = { readonly step: string } | { readonly result: TrialResult } | { readonly failure: string };

const send = (message: TrialMessage, done?: () => void) => void process.send?.(message, undefined, undefined, done);

process.once('message', async (task: TrialTask) => {
  const end = (message: TrialMessage) => send(message, () => process.exit());
  try {
    const bundle = openHostBundle(bundleDirOf(task.buildCacheDir), { runsBot: false, onUnusable: () => undefined });
    const { tryPlugin } = bundle ?? (await import('./trial.js'));
    end({ result: await tryPlugin(task, (step) => send({ step })) });
  } catch (error) {
    end({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
// Keeps the process alive, which the timers of the host do not.
setInterval(() => undefined, 2 ** 30);
