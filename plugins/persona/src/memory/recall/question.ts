import { askedAttributes, isQuestion } from '../text/attributes.js';
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

/** "My birthday" is of whoever asks; "Where do I live?" too, while nobody else is named: "What should I get Anna?" is about Anna. */
const OWN = /\b(?:my|mine)\b/iu;
const I = /\b(?:i|i['’]m|i['’]ve)\b/iu;
const ANYBODY =
  /^\s*(?:who|whose|whom)\b|\b(?:anyone|anybody|someone|somebody|everyone|everybody|which of (?:us|you))\b/iu;

export function understand({ query, askedBy, about, directory, knows }: Asked): Question {
  const tokens = tokensOf(query);
  const namings = namingsIn(tokens, directory);
  const named = new Set(namings.flatMap(({ at, length }) => tokens.slice(at, at + length)));
  const strangers = tokens.filter((token) => !named.has(token) && isStrangersName(token, directory, knows));
  const people = new Set(about ?? namings.flatMap(({ userIds }) => userIds));
  const others = people.size > 0 || strangers.length > 0;
  const own = OWN.test(query) || (!others && isQuestion(query) && I.test(query));
  if (about === undefined && askedBy !== undefined && own && !ANYBODY.test(query)) people.add(askedBy);

  // With one person asked about, the name says nothing more: what others say of somebody has it, what they say themselves has not.
  const rest = namings.length === 1 ? tokens.filter((token) => !named.has(token)) : tokens;
  const text = rest.map(({ word }) => word).join(' ');
  return {
    people: about === undefined && people.size === 0 && strangers.length === 0 ? undefined : people,
    terms: [...new Set(termsOf(text))],
    attributes: askedAttributes(query),
  };
}
