import { CinnabarError, type Decision } from '@cinnabar/sdk';
import { refusalReasons } from '../../access/access.js';

/** A refusal as an error whose sentence names every rule that said no. */
export function denial(decision: Decision): CinnabarError {
  return new CinnabarError('CINNABAR_ACCESS_DENIED', { reasons: refusalReasons(decision) });
}
