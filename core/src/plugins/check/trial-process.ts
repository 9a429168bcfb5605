/** Runs in a separate process that was started with --expose-gc: tries a plugin, reports its progress, and ends with the findings. */
import { type TrialResult, type TrialTask, tryPlugin } from './trial.js';

export type TrialMessage = { readonly step: string } | { readonly result: TrialResult } | { readonly failure: string };

const send = (message: TrialMessage, done?: () => void) => void process.send?.(message, undefined, undefined, done);

process.once('message', async (task: TrialTask) => {
  const end = (message: TrialMessage) => send(message, () => process.exit());
  try {
    end({ result: await tryPlugin(task, (step) => send({ step })) });
  } catch (error) {
    end({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
// The timers of the host do not keep the process alive.
setInterval(() => undefined, 2 ** 30);
