import { isSecretName, REDACTED, type Redactor } from './redactor.js';

export const LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const;
export type Level = (typeof LEVELS)[number];
/** For winston: the least number is the most important. */
export const LEVEL_NUMBERS = { error: 0, warn: 1, info: 2, debug: 3, trace: 4 } as const satisfies Record<
  Level,
  number
>;

/** One line of a log: what the host says of itself first, then the ids and facts of the entry. */
export interface Entry {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: Level;
  readonly component: string;
  readonly message: string;
  readonly fields: PlainRecord;
}

const OWN = ['time', 'level', 'component', 'message'];

/** Flat, so that any log reader finds `guildId` at the top; a field that is called like one of the host's own gets a `_`. */
export function flat(entry: Entry): PlainRecord {
  const { time, level, component, message } = entry;
  const fields = Object.entries(entry.fields).map(([key, value]) => [OWN.includes(key) ? `${key}_` : key, value]);
  return { time, level, component, message, ...Object.fromEntries(fields) };
}

/** Bounds of one entry: nobody reads more, and a log must not be a way to fill the disk. */
const MAX_DEPTH = 6;
const MAX_ITEMS = 50;
const MAX_TEXT = 8_000;
/** Of a trace entry, which holds whole bodies of requests. */
export const MAX_TRACE_TEXT = 2_000_000;
const MAX_NODES = 300;

export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [key: string]: Plain };
export type PlainRecord = { readonly [key: string]: Plain };

/**
 * Any value as plain JSON without secrets: bounded in depth, breadth and length, safe with cycles, getters that throw and proxies.
 * Errors keep their code, stack and cause; Discord objects become `Message(123)`, so that nobody's words get into a log by accident.
 */
export function toPlain(value: unknown, redactor: Redactor): Plain {
  return createWalk(redactor, MAX_TEXT)(value, 0);
}

export function toPlainRecord(
  fields: Readonly<Record<string, unknown>>,
  redactor: Redactor,
  mostText = MAX_TEXT,
): PlainRecord {
  const plain = createWalk(redactor, mostText)({ ...fields }, 0);
  return typeof plain === 'object' && plain !== null && !isList(plain) ? plain : { value: plain };
}

function isList(plain: Plain): plain is readonly Plain[] {
  return Array.isArray(plain);
}

function createWalk(redactor: Redactor, mostText: number) {
  const above = new Set<object>();
  let left = MAX_NODES;

  const text = (value: string): string => {
    const redacted = redactor.text(value);
    return redacted.length <= mostText ? redacted : `${redacted.slice(0, mostText)}… (${redacted.length} characters)`;
  };

  const list = (items: readonly unknown[], depth: number): Plain => {
    const shown = items.slice(0, MAX_ITEMS).map((item) => walk(item, depth + 1));
    return items.length > MAX_ITEMS ? [...shown, `… ${items.length - MAX_ITEMS} more`] : shown;
  };

  const record = (entries: readonly (readonly [string, unknown])[], depth: number): PlainRecord => {
    const shown = entries.slice(0, MAX_ITEMS).map(([key, value]): [string, Plain] => {
      // Each field of an entry has its own share, so that a big one does not cost the others.
      if (depth === 0) left = MAX_NODES;
      const hidden = isSecretName(key) && typeof value !== 'number' && typeof value !== 'boolean' && value != null;
      return [text(key), hidden ? REDACTED : walk(value, depth + 1)];
    });
    if (entries.length > MAX_ITEMS) shown.push(['…', `${entries.length - MAX_ITEMS} more`]);
    return Object.fromEntries(shown);
  };

  const error = (failure: Error, depth: number): Plain => {
    const own = ownEntries(failure).filter(([key]) => !['name', 'message', 'stack', 'cause', 'errors'].includes(key));
    return {
      name: text(String(failure.name)),
      message: text(String(failure.message)),
      ...record(own, depth),
      ...(typeof failure.stack === 'string' ? { stack: text(failure.stack) } : {}),
      ...(failure.cause === undefined ? {} : { cause: walk(failure.cause, depth + 1) }),
      ...(failure instanceof AggregateError ? { errors: list(failure.errors, depth) } : {}),
    };
  };

  const object = (value: object, depth: number): Plain => {
    if (value instanceof Error) return error(value, depth);
    if (Array.isArray(value)) return list(value, depth);
    if (value instanceof Set) return list([...value], depth);
    if (value instanceof Map)
      return record(
        [...value].map(([key, one]) => [String(key), one]),
        depth,
      );
    const short = inShort(value);
    return short === undefined ? record(ownEntries(value), depth) : text(short);
  };

  const nested = (value: object, depth: number): Plain => {
    if (above.has(value)) return '(circular)';
    if (depth >= MAX_DEPTH) return '…';
    above.add(value);
    try {
      return object(value, depth);
    } catch {
      return '(unreadable)';
    } finally {
      above.delete(value);
    }
  };

  const walk = (value: unknown, depth: number): Plain => {
    left -= 1;
    if (left < 0) return '…';
    if (typeof value === 'object' && value !== null) return nested(value, depth);
    if (typeof value === 'string') return text(value);
    return scalar(value);
  };
  return walk;
}

function scalar(value: unknown): Plain {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  return typeof value === 'function' ? 'function' : String(value);
}

/** Objects that are better named than listed. */
function inShort(value: object): string | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  if (value instanceof URL || value instanceof RegExp) return String(value);
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  const kind = kindOf(value);
  return kind !== undefined && 'id' in value && typeof value.id === 'string' ? `${kind}(${value.id})` : undefined;
}

function ownEntries(value: object): (readonly [string, unknown])[] {
  return Object.keys(value).map((key) => {
    try {
      return [key, Reflect.get(value, key)];
    } catch {
      return [key, '(unreadable)'];
    }
  });
}

/** The class of something that is not a plain object. */
function kindOf(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype || typeof prototype !== 'object') return undefined;
  return typeof prototype.constructor === 'function' ? prototype.constructor.name : undefined;
}

/** Control and format characters: what could move a terminal's cursor, start a line of its own, or reorder what is read. */
const UNSAFE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

function codeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** One line of text in which nothing is hidden. */
export function oneLine(text: string): string {
  return text.replace(UNSAFE, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\t') return ' ';
    return character === '\r' ? '\\r' : codeOf(character);
  });
}

/** JSON that is safe to print: the same value, with what JSON leaves as it is written as escapes. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (character) =>
    Array.from({ length: character.length }, (_, index) =>
      codeOf(String.fromCharCode(character.charCodeAt(index))),
    ).join(''),
  );
}
