import { OperatorError, UserError } from '@cinnabar/sdk';
import type { HostConfig } from '../config/host-config.js';

export const LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const;
export type Level = (typeof LEVELS)[number];
/** The levels as winston needs them: the smallest number is the most important. */
export const LEVEL_NUMBERS = { error: 0, warn: 1, info: 2, debug: 3, trace: 4 } as const satisfies Record<
  Level,
  number
>;

/** One line of a log: the host's own fields first, then the ids and fields of the entry. */
export interface Entry {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: Level;
  readonly component: string;
  readonly message: string;
  readonly fields: PlainRecord;
}

const OWN = ['time', 'level', 'component', 'message'];

/** An entry as one flat object, so that any log reader finds `guildId` at the top. A field with the name of one of the host's fields gets a `_`. */
export function flat(entry: Entry): PlainRecord {
  const { time, level, component, message } = entry;
  const fields = Object.entries(entry.fields).map(([key, value]) => [OWN.includes(key) ? `${key}_` : key, value]);
  return { time, level, component, message, ...Object.fromEntries(fields) };
}

/** Limits of one entry: a log must not be a way to fill the disk. */
const MAX_DEPTH = 6;
const MAX_ITEMS = 50;
const MAX_TEXT = 8_000;
/** Limit of a trace entry, which contains whole bodies of requests. */
export const MAX_TRACE_TEXT = 2_000_000;
const MAX_NODES = 300;

export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [key: string]: Plain };
export type PlainRecord = { readonly [key: string]: Plain };

/**
 * Converts any value to plain JSON without secrets: bounded in depth, breadth and length, safe with cycles, getters that throw and proxies. Errors keep their
 * code, stack and cause; Discord objects become `Message(123)`, so that members' texts do not get into a log by accident.
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
      // The limit applies to each field of an entry separately, so that a large field does not displace the others.
      if (depth === 0) left = MAX_NODES;
      const hidden = isSecretName(key) && typeof value !== 'number' && typeof value !== 'boolean' && value != null;
      return [text(key), hidden ? REDACTED : walk(value, depth + 1)];
    });
    if (entries.length > MAX_ITEMS) shown.push(['…', `${entries.length - MAX_ITEMS} more`]);
    return Object.fromEntries(shown);
  };

  const error = (failure: Error, depth: number): Plain => {
    const stack: unknown = stackOf(failure);
    const own = ownEntries(failure).filter(([key]) => !['name', 'message', 'stack', 'cause', 'errors'].includes(key));
    return {
      name: text(String(failure.name)),
      message: text(String(failure.message)),
      ...record(own, depth),
      ...(typeof stack === 'string' ? { stack: text(stack) } : {}),
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

/** Objects that are logged by name instead of content. */
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

/** The class of an object that is not plain. */
function kindOf(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype || typeof prototype !== 'object') return undefined;
  return typeof prototype.constructor === 'function' ? prototype.constructor.name : undefined;
}

/** Control and format characters: those that could move a terminal's cursor, start a new line, or reorder text. */
const UNSAFE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

function codeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** One line of text with visible control characters. */
export function oneLine(text: string): string {
  return text.replace(UNSAFE, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\t') return ' ';
    return character === '\r' ? '\\r' : codeOf(character);
  });
}

/** JSON that is safe to print: the same value, with special characters as escapes. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (character) =>
    Array.from({ length: character.length }, (_, index) =>
      codeOf(String.fromCharCode(character.charCodeAt(index))),
    ).join(''),
  );
}

/** Removes secrets from text. The host has one, for logs, cards and audit entries. */
export interface Redactor {
  /** Registers a secret, so that it is removed wherever it appears, also percent- or base64-encoded. Blank and very short values are ignored. */
  add(secret: string | undefined): void;
  /** The text without registered secrets and without anything that has the form of a secret. */
  text(text: string): string;
}

/** The length of the shortest secret that is removed: shorter ones may be words of ordinary sentences. */
const SHORTEST = 5;

export function createRedactor(secrets: readonly (string | undefined)[] = []): Redactor {
  const known = new Set<string>();
  let pattern: RegExp | undefined;

  const add = (secret: string | undefined) => {
    const value = secret?.trim();
    if (value === undefined || value.length < SHORTEST) return;
    const encoded = /\p{Surrogate}/u.test(value) ? value : encodeURIComponent(value);
    for (const form of [value, encoded, Buffer.from(value).toString('base64')]) known.add(form);
    // The longest is removed first, so that a secret that contains another one is removed completely.
    const forms = [...known].sort((one, other) => other.length - one.length);
    pattern = new RegExp(forms.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g');
  };
  for (const secret of secrets) add(secret);

  return {
    add,
    text: (text) => redactShapes(pattern === undefined ? text : text.replace(pattern, REDACTED)),
  };
}

/** The values of variables whose name says that they are secret: `DISCORD_TOKEN`, `OPENAI_API_KEY`. */
export function secretsOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => (value !== undefined && isSecretName(name) ? [value] : []));
}

/** The secrets of the configuration: the token, secret variables, the password of the database. */
export function secretsIn({ token, env, storage }: Pick<HostConfig, 'token' | 'env' | 'storage'>): readonly string[] {
  const url = storage?.url ?? '';
  const passwords = [/^[a-z]+:\/\/[^:@/]*:([^@/]*)@/i, /[?&]password=([^&]*)/i].flatMap(
    (place) => place.exec(url)?.[1] ?? [],
  );
  return [
    ...(token === undefined ? [] : [token]),
    ...secretsOf(env),
    ...passwords.flatMap((one) => [one, unescaped(one)]),
  ];
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The text that replaces a secret. */
export const REDACTED = '[redacted]';

type Shapes = readonly (readonly [shape: RegExp, replacement: string])[];

/** Patterns of credentials, each with its replacement. All of them are linear: none backtracks over its own repetition. */
const CREDENTIALS: Shapes = [
  // Discord bot and user tokens: id, time and signature in base64url.
  [/\b[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}/g, REDACTED],
  [/\bmfa\.[\w-]{20,}/g, REDACTED],
  // https://docs.discord.com/developers/resources/webhook and interaction callbacks carry their token in the path.
  [/(\/webhooks\/\d{1,20}\/)[^\s/?#"'<>]{16,}/g, `$1${REDACTED}`],
  [/(\/interactions\/\d{1,20}\/)[^\s/?#"'<>]{16,}/g, `$1${REDACTED}`],
  // Keys of OpenAI, Anthropic and services with the same form; of xAI, Google, GitHub, Slack, AWS.
  [/\b(?:sk|pk|rk|xai|gsk)-[\w-]{12,}/g, REDACTED],
  [/\bAIza[\w-]{30,}/g, REDACTED],
  [/\bgh[a-z]_\w{20,}|\bgithub_pat_\w{20,}/g, REDACTED],
  [/\bxox[a-z]-[\w-]{10,}/g, REDACTED],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED],
  // Tokens that this host issues to MCP clients.
  [/\bcinnabar_mcp_[\w-]{20,}/g, REDACTED],
  // JSON web tokens.
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, REDACTED],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g, REDACTED],
];

/** Patterns of places where a credential is expected, such as a header or a query, whatever the form of its value. */
const PLACES: Shapes = [
  [/\b(authorization["']?\s{0,8}[:=]\s{0,8}["']?)(?:(?:Bearer|Basic|Bot)\s{1,8})?[^\s"',;]{6,}/gi, `$1${REDACTED}`],
  // The value needs a digit, so that "bearer of good news" is kept.
  [/\b(Bearer\s{1,8})(?=[^\s"']{0,200}\d)[\w.~+/=-]{8,}/gi, `$1${REDACTED}`],
  // user:password@ in an address, and credentials in its query.
  [/(:\/\/[^\s/:@]{0,100}:)[^\s/@]{1,200}@/g, `$1${REDACTED}@`],
  [/([?&](?:api_?key|key|token|access_token|secret|password|sig|signature)=)[^\s&#"']+/gi, `$1${REDACTED}`],
];

/** Whether a text contains a token or key, by its form: code may name the places where one is expected. */
export function hasCredential(text: string): boolean {
  return CREDENTIALS.some(([shape]) => text.search(shape) >= 0);
}

/** Removes everything that has the form of a credential. */
export function redactShapes(text: string): string {
  let result = text;
  for (const [shape, replacement] of [...CREDENTIALS, ...PLACES]) result = result.replace(shape, replacement);
  return result;
}

const SECRET_NAME =
  /^(?:.*[_\-.])?(?:token|secret|password|passwd|passphrase|api[_-]?key|private[_-]?key|access[_-]?key|credentials?|authorization|cookie|set-cookie)$/i;

/** Whether a field or variable of this name holds a secret: `apiKey`, `DISCORD_TOKEN`, `authorization`; not `maxTokens`. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.replace(/([a-z0-9])([A-Z])/g, '$1_$2'));
}

/** The stack; without frames for an error that a person can fix, since they would need the source map, which takes long to read. */
function stackOf(failure: Error): unknown {
  const isExpected = failure instanceof UserError || failure instanceof OperatorError;
  return isExpected ? `${failure.name}: ${failure.message}` : failure.stack;
}
