import { UserError } from '@cinnabar/sdk';

/** Asked before each step that changes or fetches something. @throws UserError once the call has been cancelled */
export function stopWhenCancelled({ aborted }: AbortSignal): void {
  if (aborted) throw new UserError('It was cancelled on the way.');
}
