import type { StopReasonType } from '@letta-ai/letta-client/resources/runs/runs';

/** Thrown inside of a script to end its run. */
export class RunEnded extends Error {
  constructor(
    readonly reason: StopReasonType,
    readonly failure?: { readonly type: string; readonly message: string },
  ) {
    super(`The run has ended: ${reason}.`);
  }
}
