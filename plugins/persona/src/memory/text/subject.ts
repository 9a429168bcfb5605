import { type Directory, type Naming, namingsIn, type Token, tokensOf } from './names.js';

/** What may stand before the one whom a sentence is about. */
const LEAD: ReadonlySet<string> = new Set(
  `btw fyi so and but well apparently actually yesterday today now remember note did you know that think guess heard hear believe say says said
  guys hey also oh lol yeah no yes reminder reportedly turns out update correction`.split(/\s+/),
);
const OWN: ReadonlySet<string> = new Set("i i'm im i've ive i’m i’ve i'd my mine we we're we’re our".split(' '));
/** What follows somebody who is called, not told of. */
const ADDRESSING: ReadonlySet<string> = new Set([
  ...OWN,
  'you',
  'your',
  'do',
  'can',
  'could',
  'would',
  'please',
  'thanks',
]);
/** "I think that Anna …" is about Anna. */
const REPORTING: ReadonlySet<string> = new Set('think guess heard hear believe know bet remember read saw'.split(' '));

/**
 * Whom a sentence is about, where the speaker does not say: somebody named where a sentence has its subject ("Anna's cat …", "I heard that Bob
 * moved …"), otherwise the speaker. A name that calls somebody ("Anna, I …") is not a subject, nor is one that several people bear.
 */
export function subjectOf(text: string, speaker: string, directory: Directory): string {
  const tokens = tokensOf(text);
  for (const naming of namingsIn(tokens, directory)) {
    if (isCalled(tokens, naming)) continue;
    const [only, ...others] = naming.userIds;
    if (others.length > 0 || only === undefined) return speaker;
    return isSubject(tokens, naming) ? only : speaker;
  }
  return speaker;
}

/** "Anna, …", "Anna: …", "Anna I …", "…, Anna". */
function isCalled(tokens: readonly Token[], { at, length }: Naming): boolean {
  const last = tokens[at + length - 1];
  if (last === undefined) return false;
  const next = tokens[at + length];
  if (next === undefined) return tokens[at - 1]?.after === ',';
  if (tokens[at]?.initial !== true) return false;
  return /[,:]/.test(last.after) || ADDRESSING.has(next.lower);
}

function isSubject(tokens: readonly Token[], { at, length }: Naming): boolean {
  if (at + length >= tokens.length) return false;
  const start = tokens.findLastIndex(({ initial }, index) => initial && index <= at);
  return tokens.slice(start, at).every(({ lower }, index, before) => {
    return LEAD.has(lower) || (OWN.has(lower) && REPORTING.has(before[index + 1]?.lower ?? ''));
  });
}
