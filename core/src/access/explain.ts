import type { Decision } from '@cinnabar/sdk';

/** Why it was refused, for the `{reasons}` of a coded error: every denying reason in one clause. */
export function refusalReasons(decision: Decision): string {
  const denying = decision.reasons.filter((reason) => !reason.allowed).map((reason) => reason.text);
  return denying.length === 0 ? 'no rule allows it' : denying.join('; ');
}
