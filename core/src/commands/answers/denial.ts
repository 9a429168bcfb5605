import { CinnabarError, type Decision } from '@cinnabar/sdk';

/** A refusal as an error whose sentence names every rule that said no. */
export function denial(decision: Decision): CinnabarError {
  const reasons = decision.reasons.filter((reason) => !reason.allowed).map((reason) => reason.text);
  return new CinnabarError('CINNABAR_ACCESS_DENIED', { reasons: reasons.join('; ') });
}
