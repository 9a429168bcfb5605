import { distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { readNumber } from './numbers.js';

const PROPERTY = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  anyOf: z.array(z.unknown()).optional(),
  items: z.unknown().optional(),
  default: z.unknown().optional(),
});
type Property = z.output<typeof PROPERTY>;

const SCHEMA = z.looseObject({
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
});

/** A tool's input schema, as far as slots need it. */
export interface InputShape {
  isNumeric(slot: string): boolean;
  /** The tool's arguments from the slots' texts; `undefined` when a text does not fit, or a required argument has none. */
  fill(texts: ReadonlyMap<string, string>): Readonly<Record<string, unknown>> | undefined;
}

export function readShape(inputSchema: Readonly<Record<string, unknown>>): InputShape {
  const { properties, required } = SCHEMA.catch({ properties: {}, required: [] }).parse(inputSchema);
  const property = (name: string) => (name in properties ? propertyOf(properties[name]) : undefined);
  return {
    isNumeric: (slot) => /^(number|integer)$/.test(typeOf(property(slot))),
    fill(texts) {
      const filled: Record<string, unknown> = {};
      for (const [name, text] of texts) {
        const wanted = property(name);
        if (wanted === undefined) continue;
        const value = readValue(wanted, text);
        if (value === undefined) return undefined;
        filled[name] = value;
      }
      const missing = required.some((name) => !(name in filled) && property(name)?.default === undefined);
      return missing ? undefined : filled;
    },
  };
}

/** An optional property that may be null is the property without the null. */
function propertyOf(schema: unknown): Property {
  const property = PROPERTY.catch({ items: undefined, default: undefined }).parse(schema);
  const real = property.anyOf?.map(propertyOf).find((choice) => typeOf(choice) !== 'null');
  return real ?? property;
}

function typeOf(property: Property | undefined): string {
  const type = property?.type;
  return (Array.isArray(type) ? type.find((one) => one !== 'null') : type) ?? 'string';
}

function readValue(property: Property, text: string): unknown {
  if (property.enum !== undefined) return choose(property.enum, text);
  switch (typeOf(property)) {
    case 'string':
      return text;
    case 'number':
      return readNumber(text);
    case 'integer': {
      const number = readNumber(text);
      return Number.isInteger(number) ? number : undefined;
    }
    case 'boolean':
      return readBoolean(text);
    case 'array':
      return readList(propertyOf(property.items), text);
    default:
      return undefined;
  }
}

/** The choice that was meant: the same but for case, or one letter off. */
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

/** "a rifle, body armor and optics" is three things. */
function readList(items: Property, text: string): readonly unknown[] | undefined {
  const values = text
    .split(/[,;&\n]|\band\b/i)
    .map((item) =>
      item
        .trim()
        .replace(/^(?:an?|some)\s+/i, '')
        .replace(/^["'“”‘’]+|["'“”‘’.!?]+$/g, ''),
    )
    .filter((item) => item !== '')
    .map((item) => readValue(items, item));
  return values.length === 0 || values.includes(undefined) ? undefined : values;
}
