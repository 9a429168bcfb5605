import type { Decision } from '@cinnabar/sdk';

/** Why it was refused, for the `{reasons}` of a coded error: every denying reason in one clause. */
export function refusalReasons(decision: Decision): string {
  const denying = decision.reasons.filter((reason) => !reason.allowed).map((reason) => reason.text);
  return denying.length === 0 ? 'no rule allows it' : denying.join('; ');
}

/** A decision as one sentence for people: "You may not do that: …" or "You may do that: …". */
export function explainDecision(decision: Decision): string {
  if (!decision.allowed) return `You may not do that: ${refusalReasons(decision)}.`;
  return `You may do that: ${decision.reasons.map((reason) => reason.text).join('; ')}.`;
}
