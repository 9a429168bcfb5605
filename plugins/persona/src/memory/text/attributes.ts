import { isEmptyWord, termOf, wordsOf } from './words.js';

/** Something of which a person has one at a time. What it is now is what was said last. */
interface Attribute {
  readonly key: string;
  readonly tells: RegExp;
  readonly asks: RegExp;
}

/** "People who live in …" are not the speaker. */
const NOT_OTHERS = String.raw`(?<!\b(?:who|people|folks|those|to|would|could|should|might|if)\s(?:[\p{L}’']+\s)?)`;
const tells = (pattern: string) => new RegExp(`${NOT_OTHERS}\\b(?:${pattern})`, 'iu');
const asks = (pattern: string) => new RegExp(`\\b(?:${pattern})`, 'iu');

const ATTRIBUTES: readonly Attribute[] = [
  {
    key: 'home',
    tells: tells(
      String.raw`(?:live|living|lives|lived|reside[sd]?|residing|based|staying)(?: (?:now|alone|currently|here|again|any ?more))? (?:in|at|near|on|outside)\b|(?:moved|moving|relocated|relocating)(?: back| over| out| house| away)? (?:to|into)\s+(?!the next|another topic)\p{L}`,
    ),
    asks: asks(
      String.raw`where\b.*\b(?:live|lives|living|based|stay|staying|home|reside|resides|moved?|settled?)\b|(?:which|what) (?:city|town|country|village|place|part)\b|address|home ?town`,
    ),
  },
  {
    key: 'job',
    tells: tells(
      String.raw`(?:work|works|working|worked) (?:now )?(?:as|at|for)\b|(?:job|profession|occupation) (?:is|as)\b|new job\b|(?:got )?(?:hired|employed) (?:as|at|by)\b|(?:start|starts|started|starting) (?:a job |work |working )?(?:as an?|at an?)\b`,
    ),
    asks: asks(
      String.raw`(?:work|works|working|job|profession|occupation|employer|employed|career)\b|(?:do|does) .* (?:for a living|for money|professionally)`,
    ),
  },
  {
    key: 'age',
    tells: tells(
      String.raw`(?:i['’]?m|i am|turned|turning|turn) (?:now )?\d{1,2}(?: years? old|(?=\s*(?:[.!,]|$|now|today|yesterday|last)))|is (?:now )?\d{1,2} years? old`,
    ),
    asks: asks(String.raw`how old\b|what age\b|(?:'s|his|her|my|their) age\b`),
  },
  {
    key: 'birthday',
    tells: tells(String.raw`birthday(?:['’]s| is| was| falls) (?:on |in )?|born (?:on|in)\b`),
    asks: asks('birthday|born|birth ?date'),
  },
  {
    key: 'relationship',
    tells: tells(
      String.raw`(?:am|is|['’]m|got|getting|are|we['’]re) (?:now )?(?:married|engaged|single|divorced|widowed)\b`,
    ),
    asks: asks('married|engaged|single|divorced|partner|relationship|spouse|husband|wife'),
  },
  {
    key: 'diet',
    tells: tells(
      String.raw`(?:am|is|['’]m|went|gone|became|been|turned|be)(?: an?)?(?: now)? (?:vegan|vegetarian|pescatarian|omnivore)\b|eat(?:s|ing)? meat\b`,
    ),
    asks: asks(String.raw`vegan|vegetarian|diet\b|eats? meat`),
  },
  {
    key: 'time zone',
    tells: tells(String.raw`time ?zone(?:'s| is)\b`),
    asks: asks('time ?zone'),
  },
];

const FAVOURITE =
  /\bfavou?rite\s+((?:[\p{L}]+\s){0,2}?[\p{L}]+)(?:\s+(?:is|are|was|has|ever|these|nowadays|now)\b|['’]s\b|\s*[?.!,]|$)/iu;
const NAMED =
  /\b(?:my|his|her|their|our|[\p{L}]+['’]s)\s+((?:[\p{L}]+\s)?[\p{L}]+?)(?:['’]s name is|\s+(?:is|was|are) (?:now )?(?:called|named)|['’]s (?:called|named))\b/iu;
const ASKS_NAME =
  /\bname of\s+(?:the |my |his |her |their |our |[\p{L}]+['’]s\s+)?([\p{L}]+)|(?:['’]s|\bmy|\bhis|\bher|\btheir)\s+([\p{L}]+)(?:['’]s)?\s+(?:name|called|named)\b/iu;
const TASTE = /\b(?:love|like|enjoy|adore|hate|dislike|loathe|detest|prefer)(?:s|d)?\s+([^.,;:!?]{2,60})/iu;
const TASTE_NOT =
  /\b(?:would|looks?|sounds?|feels?|something|anything|just|more|much|seems?|was|is|be) like\b|\bi['’]d (?:like|love)\b/iu;
const SINCE = /\s+(?:any ?more|now|these days|lately|a lot|so much|too|again|the most|very much)$/iu;
const MAX_TASTE_WORDS = 4;

/** What there is one of at a time and a text tells, such as `home`, `favourite colour`, `cat's name` or `taste: pizza`. */
export function attributeOf(text: string): string | null {
  if (isQuestion(text)) return null;
  const favourite = FAVOURITE.exec(text)?.[1];
  if (favourite !== undefined) return `favourite ${keyOf(favourite)}`;
  const named = NAMED.exec(text)?.[1];
  if (named !== undefined) return `${keyOf(named)}'s name`;
  const known = ATTRIBUTES.find((attribute) => attribute.tells.test(text));
  return known?.key ?? tasteOf(text);
}

/** What of that a question may be about. */
export function askedAttributes(query: string): readonly string[] {
  const found = ATTRIBUTES.filter((attribute) => attribute.asks.test(query)).map(({ key }) => key);
  const favourite = FAVOURITE.exec(query)?.[1];
  if (favourite !== undefined) found.push(`favourite ${keyOf(favourite)}`);
  const name = ASKS_NAME.exec(query);
  const named = name?.[1] ?? name?.[2];
  if (named !== undefined) found.push(`${keyOf(named)}'s name`);
  const taste = tasteOf(query);
  if (taste !== null) found.push(taste);
  return found;
}

export const isQuestion = (text: string): boolean => /\?\s*(?:[\p{Emoji_Presentation}:)\s]|<:\w+:\d+>)*$/u.test(text);

function tasteOf(text: string): string | null {
  if (TASTE_NOT.test(text)) return null;
  const what = TASTE.exec(text)?.[1]?.trim().replace(SINCE, '');
  if (what === undefined) return null;
  const words = wordsOf(what).filter((word) => !isEmptyWord(word));
  return words.length > 0 && words.length <= MAX_TASTE_WORDS ? `taste: ${words.map(termOf).join(' ')}` : null;
}

const keyOf = (words: string): string =>
  wordsOf(words)
    .map((word) => termOf(word).replace(/^colour$/, 'color'))
    .join(' ');
