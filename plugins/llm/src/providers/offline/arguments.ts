import { distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { readNumber } from './words.js';

/** Maximum length of a name, in characters. */
const LONGEST_NAME = 200;

const PROPERTY = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  anyOf: z.array(z.unknown()).optional(),
  items: z.unknown().optional(),
  default: z.unknown().optional(),
  maxLength: z.number().optional(),
  pattern: z.string().optional(),
});
type Property = z.output<typeof PROPERTY>;

const SCHEMA = z.looseObject({
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
});

/** The arguments from the slots' texts, or the slot whose text is ambiguous. */
type Filled =
  | { readonly ok: true; readonly input: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly slot: string; readonly text: string };

/** A tool's input schema, as far as slots need it. */
export interface InputShape {
  isNumeric(slot: string): boolean;
  isLong(slot: string): boolean;
  /** The tool's arguments from the texts of the slots; `undefined` when a required argument has no text, or the schema refuses the arguments. */
  fill(texts: ReadonlyMap<string, SlotText>): Filled | undefined;
}

export function readShape(inputSchema: Readonly<Record<string, unknown>>): InputShape {
  const { properties, required } = SCHEMA.catch({ properties: {}, required: [] }).parse(inputSchema);
  const property = (name: string) => (name in properties ? propertyOf(properties[name]) : undefined);
  return {
    isNumeric: (slot) => /^(number|integer)$/.test(typeOf(property(slot))),
    isLong(slot) {
      const wanted = property(slot);
      return wanted !== undefined && typeOf(wanted) === 'string' && isLongText(wanted);
    },
    fill(texts) {
      const input: Record<string, unknown> = {};
      for (const [slot, text] of texts) {
        const wanted = property(slot);
        if (wanted === undefined) return undefined;
        const value = readValue(wanted, text);
        if (value === undefined) return { ok: false, slot, text: text.text };
        input[slot] = value;
      }
      const missing = required.some((name) => !(name in input) && property(name)?.default === undefined);
      return missing || !isAccepted(inputSchema, input) ? undefined : { ok: true, input };
    },
  };
}

/** Checks arguments by the tool's own schema, if it can be read. The tool checks them again. */
function isAccepted(inputSchema: Readonly<Record<string, unknown>>, input: Readonly<Record<string, unknown>>): boolean {
  let check = checks.get(inputSchema);
  if (check === undefined) {
    check = checkOf(inputSchema);
    checks.set(inputSchema, check);
  }
  return check(input);
}

type Check = (input: unknown) => boolean;
/** Cached, since reading a schema takes longer than the rest of this module. */
const checks = new WeakMap<object, Check>();

function checkOf(inputSchema: Readonly<Record<string, unknown>>): Check {
  try {
    const schema = z.fromJSONSchema(inputSchema);
    return (input) => schema.safeParse(input).success;
  } catch {
    return () => true;
  }
}

/** A property without the `null` of an optional one. */
function propertyOf(schema: unknown): Property {
  const property = PROPERTY.catch({ items: undefined, default: undefined }).parse(schema);
  const real = property.anyOf?.map(propertyOf).find((choice) => typeOf(choice) !== 'null');
  return real ?? property;
}

function typeOf(property: Property | undefined): string {
  const type = property?.type;
  return (Array.isArray(type) ? type.find((one) => one !== 'null') : type) ?? 'string';
}

function readValue(property: Property, said: SlotText): unknown {
  const { text } = said;
  if (property.enum !== undefined) return choose(property.enum, text);
  switch (typeOf(property)) {
    case 'string':
      return isLongText(property) || property.pattern !== undefined || isOneThing(said) ? text : undefined;
    case 'number':
      return readNumber(text);
    case 'integer': {
      const number = readNumber(text);
      return Number.isInteger(number) ? number : undefined;
    }
    case 'boolean':
      return readBoolean(text);
    case 'array':
      return readList(propertyOf(property.items), said);
    default:
      return undefined;
  }
}

/** The choice that a text means: equal except for case, or with one different letter. */
function choose(choices: readonly unknown[], text: string): unknown {
  const said = text.toLowerCase();
  const same = choices.find((choice) => String(choice).toLowerCase() === said);
  if (same !== undefined) return same;
  const near = choices.filter((choice) => {
    const name = String(choice).toLowerCase();
    return name.length >= 4 && Math.abs(name.length - said.length) <= 1 && distance(name, said) <= 1;
  });
  return near.length === 1 ? near[0] : undefined;
}

function readBoolean(text: string): boolean | undefined {
  if (/^(yes|true|on|yeah|sure)$/i.test(text)) return true;
  return /^(no|false|off|nope)$/i.test(text) ? false : undefined;
}

/** A string that is longer than a name or an id is free text: all words belong to it. */
function isLongText({ maxLength }: Property): boolean {
  return maxLength !== undefined && maxLength > LONGEST_NAME;
}

/** The items of a text such as "a rifle, body armor and optics". */
function readList(items: Property, { text, quoted }: SlotText): readonly unknown[] | undefined {
  if (quoted) return readItems(items, [text]);
  const said = text.split(/[,;&\n]|\band\b/i).filter((item) => item.trim() !== '');
  return readItems(
    items,
    said.map((item) => item.trim().replace(/^(?:an?|some)\s+/i, '')),
  );
}

function readItems(items: Property, texts: readonly string[]): readonly unknown[] | undefined {
  const values = texts.map((text) => readValue(items, slotText(text, false)));
  return values.length === 0 || values.includes(undefined) ? undefined : values;
}

/** The text of a slot in an utterance. */
export interface SlotText {
  readonly text: string;
  /** It was quoted: one value, whatever it contains. */
  readonly quoted: boolean;
}

const PAIRS = new Map(
  ['""', "''", '“”', '‘’', '„“', '«»', '``', '**', '__'].map(([open = '', close = '']) => [open, close]),
);
/** A number before `!` is excluded: "5!" may be a factorial. */
const SENTENCE_END = /(?:(?<!\d)!|[.,?;:…])+$/u;
const BRACKETS = new Map([
  [')', '('],
  [']', '['],
  ['}', '{'],
]);
/** Words that begin a second item, an exception or a second sentence. */
const MORE_THAN_ONE =
  /(?:^|\s)(?:and|or|nor|but|not|no|never|without|except|excluding|plus|minus|instead|also|then|than|if|unless|because|while|who|which|that|is|are|isn['’]?t|aren['’]?t|n['’]t)(?=\s|$)/iu;
const MOST_WORDS = 6;

/**
 * Removes only text that cannot belong to the value: quotes around the whole and the end of the sentence.
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
  if (open !== '*' && open !== '_') return { text: inner, quoted: true };
  // Markdown's emphasis has no inner space at its ends, so `* V *` is not emphasis.
  return inner.trim() === inner ? { text: inner, quoted: false } : undefined;
}

/** Whether a text can be one name, id or word, and not two or a condition. */
function isOneThing({ text, quoted }: SlotText): boolean {
  if (text === '' || !isBalanced(text)) return false;
  if (quoted) return true;
  // A time of day contains a colon, and is one value.
  if (/[,;&=<>\n"“”„«»]|(?<!\d):|:(?!\d)|[.!?…]\s/u.test(text) && !/^<[@#:][^\s]+>$|^\w+:\/\/\S+$/.test(text))
    return false;
  return !MORE_THAN_ONE.test(text) && text.split(/\s+/).length <= MOST_WORDS;
}

/** Whether every bracket has its counterpart, in order. */
function isBalanced(text: string): boolean {
  const open: string[] = [];
  for (const character of text) {
    if ('([{'.includes(character)) open.push(character);
    else if (BRACKETS.has(character) && open.pop() !== BRACKETS.get(character)) return false;
  }
  return open.length === 0;
}
