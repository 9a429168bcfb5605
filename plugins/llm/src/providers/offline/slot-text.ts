/** What was said in a slot's place. */
export interface SlotText {
  readonly text: string;
  /** It was written in quotes: one thing, whatever is in it. */
  readonly quoted: boolean;
}

const PAIRS = new Map(
  ['""', "''", '“”', '‘’', '„“', '«»', '``', '**', '__'].map(([open = '', close = '']) => [open, close]),
);
/** "5!" may be a factorial. */
const SENTENCE_END = /(?:(?<!\d)!|[.,?;:…])+$/u;
const BRACKETS = new Map([
  [')', '('],
  [']', '['],
  ['}', '{'],
]);
/** Words by which a second thing, an exception or a second sentence begins. */
const MORE_THAN_ONE =
  /(?:^|\s)(?:and|or|nor|but|not|no|never|without|except|excluding|plus|minus|instead|also|then|than|if|unless|because|while|who|which|that|is|are|isn['’]?t|aren['’]?t|n['’]t)(?=\s|$)/iu;
const MOST_WORDS = 6;

/**
 * Takes from what was said only what cannot belong to the value: quotes around the whole and the end of the sentence.
 * @param bracketed whether brackets around the whole belong to the example, not to the value
 */
export function slotText(said: string, bracketed: boolean): SlotText {
  let text = said.trim();
  let quoted = false;
  for (let before = ''; before !== text; ) {
    before = text;
    const end = SENTENCE_END.exec(text)?.[0] ?? '';
    const inner = unwrapped(text.slice(0, text.length - end.length), bracketed);
    if (inner === undefined) text = text.slice(0, text.length - end.length);
    else {
      text = inner.text.trim();
      quoted ||= inner.quoted;
    }
  }
  return { text, quoted };
}

function unwrapped(text: string, bracketed: boolean): SlotText | undefined {
  if (text.length < 2) return undefined;
  const open = text.slice(0, 1);
  const inner = text.slice(1, -1);
  if (bracketed && open === '(' && text.endsWith(')') && isBalanced(inner)) return { text: inner, quoted: false };
  const close = PAIRS.get(open);
  if (close === undefined || !text.endsWith(close) || inner.includes(open) || inner.includes(close)) return undefined;
  return { text: inner, quoted: open !== '*' && open !== '_' };
}

/** Whether it can be taken for one name, id or word. What might be two, or have a condition, cannot. */
export function isOneThing({ text, quoted }: SlotText): boolean {
  if (text === '' || !isBalanced(text)) return false;
  if (quoted) return true;
  if (/[,;:&=<>\n"“”„«»]|[.!?…]\s/u.test(text) && !/^<[@#:][^\s]+>$|^\w+:\/\/\S+$/.test(text)) return false;
  return !MORE_THAN_ONE.test(text) && text.split(/\s+/).length <= MOST_WORDS;
}

/** Whether every bracket has its other half, in order. */
function isBalanced(text: string): boolean {
  const open: string[] = [];
  for (const character of text) {
    if ('([{'.includes(character)) open.push(character);
    else if (BRACKETS.has(character) && open.pop() !== BRACKETS.get(character)) return false;
  }
  return open.length === 0;
}
