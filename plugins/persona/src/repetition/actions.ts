import { shortened } from './speech.js';
import type { PastAction, RepetitionPattern } from './types.js';
import { likeness, paraphrases, saysExactly, wordingOf } from './wording.js';

/** What lies further back is no circle any more. */
const RECENT = 5;
/** So many of a kind in a row are thinking in circles, unless each is for something else. */
const RUN = 3;
const ALIKE = 0.5;

type Proposed = Pick<PastAction, 'action' | 'context'>;

/** Whether an action was just carried out for the same purpose, follows on a run of its own kind, or goes round in a circle. */
export function loopIn(completed: readonly PastAction[], proposed: Proposed): RepetitionPattern | null {
  const recent = completed.slice(-RECENT);
  const same = recent.findLast((past) => past.action === proposed.action && isSamePurpose(past, proposed));
  if (same !== undefined)
    return loop(`${proposed.action} again for the same purpose: ${shortened(same.context ?? '')}`, same);

  const run = recent.slice(-RUN);
  const [first] = run;
  if (
    first !== undefined &&
    run.length === RUN &&
    run.every((past) => past.action === proposed.action && isAlike(past, proposed))
  ) {
    return loop(`${proposed.action} ${RUN + 1} times in a row`, first);
  }
  const [one, other, again, otherAgain] = recent.slice(-4);
  if (one === undefined || other === undefined || again === undefined || otherAgain === undefined) return null;
  const turns =
    one.action !== other.action &&
    isAgain(one, again) &&
    isAgain(other, otherAgain) &&
    proposed.action === again.action &&
    isAlike(again, proposed);
  return turns ? loop(`${one.action} and ${other.action} take turns`, again) : null;
}

const loop = (sentence: string, past: PastAction): RepetitionPattern => ({
  kind: 'loop',
  sentence,
  earlier: past.context ?? past.action,
});

const isAgain = (one: PastAction, other: PastAction) => one.action === other.action && isAlike(one, other);

/** In nearly the same words. Without a purpose that is given, nothing can be said. */
function isSamePurpose({ context = '' }: Proposed, { context: wanted = '' }: Proposed): boolean {
  if (context.trim() === '' || wanted.trim() === '') return false;
  const [one, other] = [wordingOf(context), wordingOf(wanted)];
  return context.trim() === wanted.trim() || saysExactly(one, other) || paraphrases(one, other);
}

/** About the same, as far as a purpose is given. */
function isAlike({ context = '' }: Proposed, { context: wanted = '' }: Proposed): boolean {
  if (context.trim() === '' || wanted.trim() === '') return true;
  return (
    isSamePurpose({ action: '', context }, { action: '', context: wanted }) ||
    likeness(wordingOf(context).terms, wordingOf(wanted).terms) >= ALIKE
  );
}
