import { isEmptyWord, wordsOf } from './words.js';

const AGAIN =
  /\b(?:again|repeat\w*|once more|one more time|another time|say (?:that|it|what)|come again|encore|pardon|(?:did|do)n['’]?t (?:hear|catch|get|understand|see|read)|what did you (?:just )?say|what was that|(?:noch ?mal|nochmals|wiederhol\w*|répèt\w*|otra vez|repite|de novo|ancora))\b|^\s*(?:sorry|what|huh|eh|hm+)\s*\?+\s*$/iu;

/** Whether somebody asks for what was said before. */
export const asksForRepeat = (trigger: string): boolean => AGAIN.test(trigger.slice(0, 2_000));

const ACKNOWLEDGING: ReadonlySet<string> = new Set(
  `ok okay yes no yeah yep nope sure thanks thank cheers lol haha hehe hi hello hey bye cya welcome sorry right exactly great nice cool good fine
  alright indeed agreed understood noted done true please np yw gn gm night morning evening ty thx mhm aha wow oops congrats course problem`.split(
    /\s+/,
  ),
);
const SHORT = 2;
const SHORT_IF_POLITE = 6;

/** Whether a text is so short, or so much a matter of course, that people say it time and again: "Thanks!", "good night everyone". */
export function isAcknowledgement(text: string): boolean {
  const words = wordsOf(text.toLowerCase());
  if (words.length <= SHORT) return true;
  if (words.length > SHORT_IF_POLITE) return false;
  return words.every(
    (word) => ACKNOWLEDGING.has(word) || isEmptyWord(word) || /^(?:all|everyone|everybody)$/.test(word),
  );
}
