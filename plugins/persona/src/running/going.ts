import { CinnabarError } from '@cinnabar/sdk';

/** For what would go on by itself when nothing is asked of a model any more. @throws CINNABAR_LLM_CANCELLED */
export function assertGoing(signal: AbortSignal): void {
  if (signal.aborted) throw new CinnabarError('CINNABAR_LLM_CANCELLED');
}
