import type { ToolProgress } from '@cinnabar/sdk';
import type { ProgressToken } from '@modelcontextprotocol/sdk/types.js';

type Send = (notification: {
  method: 'notifications/progress';
  params: { progressToken: ProgressToken; progress: number; total?: number; message?: string };
}) => Promise<void>;

export interface ProgressReporter {
  /** What the tool says. */
  report(progress: ToolProgress): void;
  /** A sign of life when there is nothing else to say: it keeps the client from giving up. */
  beat(message: string): void;
}

const SILENT: ProgressReporter = { report: () => undefined, beat: () => undefined };

/** Tells a client that asked for it how far its call has come. What it is told must rise: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress */
export function createProgressReporter(progressToken: ProgressToken | undefined, send: Send): ProgressReporter {
  if (progressToken === undefined) return SILENT;
  let beats = 0;
  let last = -1;
  const tell = (progress: number, more: { total?: number; message?: string }) => {
    if (progress <= last) return;
    last = progress;
    // Whoever has gone need not be told.
    void send({ method: 'notifications/progress', params: { progressToken, progress, ...more } }).catch(
      () => undefined,
    );
  };
  return {
    // Beats came first: what the tool counts is added to them.
    report: ({ progress, total, message }) =>
      tell(beats + progress, {
        ...(total === undefined ? {} : { total: beats + total }),
        ...(message === undefined ? {} : { message }),
      }),
    beat(message) {
      beats += 1;
      tell(Math.max(beats, last + 1), { message });
    },
  };
}
