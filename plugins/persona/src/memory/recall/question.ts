import { askedAttributes } from '../text/attributes.js';
import { type Directory, isStrangersName, namingsIn, tokensOf } from '../text/names.js';
import { termsOf } from '../text/words.js';

/** What a query is after. */
export interface Question {
  /** Whom it is about; `undefined`: nobody in particular. Empty when it names somebody of whom nothing is known. */
  readonly people: ReadonlySet<string> | undefined;
  readonly terms: readonly string[];
  /** What of those people is asked for, where it is something of which there is one at a time. */
  readonly attributes: readonly string[];
}

interface Asked {
  readonly query: string;
  readonly askedBy: string | undefined;
  readonly about: readonly string[] | undefined;
  readonly directory: Directory;
  knows(word: string): boolean;
}

/** "Where do I live", "my birthday": of whoever asks. */
const OWN = /\b(?:my|mine|(?:am|do|did|was|have|had|can|could|should|will|would)\s+i)\b/iu;
const ANYBODY = /\b(?:who|whose|whom|anyone|anybody|someone|somebody|everyone|everybody|which of (?:us|you))\b/iu;

export function understand({ query, askedBy, about, directory, knows }: Asked): Question {
  const tokens = tokensOf(query);
  const namings = namingsIn(tokens, directory);
  const named = new Set(namings.flatMap(({ at, length }) => tokens.slice(at, at + length)));
  const strangers = tokens.filter((token) => !named.has(token) && isStrangersName(token, directory, knows));
  const people = new Set(about ?? namings.flatMap(({ userIds }) => userIds));
  const own = askedBy !== undefined && OWN.test(query) && !ANYBODY.test(query);
  if (about === undefined && own) people.add(askedBy);

  // With one person asked about, the name says nothing more: what others say of somebody has it, what they say themselves has not.
  const rest = namings.length === 1 ? tokens.filter((token) => !named.has(token)) : tokens;
  const text = rest.map(({ word }) => word).join(' ');
  return {
    people: about === undefined && people.size === 0 && strangers.length === 0 ? undefined : people,
    terms: [...new Set(termsOf(text))],
    attributes: askedAttributes(query),
  };
}
