import type { StopReasonType } from '@letta-ai/letta-client/resources/runs/runs';
import type { RunFailure } from '../state/run.js';

/** Thrown inside of a script to end its run. */
export class RunEnded extends Error {
  constructor(
    readonly reason: StopReasonType,
    readonly failure?: RunFailure,
  ) {
    super(`The run has ended: ${reason}.`);
  }
}
