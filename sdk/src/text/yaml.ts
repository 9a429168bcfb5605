import {
  Composer,
  type CST,
  Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  Parser,
  visit,
} from 'yaml';
import { t } from './language.js';
import { oneLine } from './untrusted.js';

/** The content of a YAML text, or the reason why it cannot be used. */
export type YamlReading =
  | {
      readonly ok: true;
      /** Its keys and values; frozen. An empty text has none. */
      readonly values: Readonly<Record<string, unknown>>;
      /** The line of a key, or of its nearest existing parent; from 1. */
      lineOf(key: readonly (string | number)[]): number;
    }
  | { readonly ok: false; readonly line: number /** A clause for people. */; readonly problem: string };

const DEEPEST = 32;
const MOST_ALIASES = 50;
const LONGEST_QUOTE = 60;
const LONGEST_MESSAGE = 200;

/**
 * Reads YAML from untrusted sources. Refuses texts larger than `maxBytes`, nesting deeper than 32 levels, tags, duplicate keys, keys that are not plain text,
 * aliases that multiply or contain themselves, more than one document, and any top level but keys with values. Never throws.
 * @param maxBytes 1 MB by default
 */
export function readYaml(text: string, { maxBytes = 1_000_000 }: { readonly maxBytes?: number } = {}): YamlReading {
  if (Buffer.byteLength(text) > maxBytes) return refusal(1, t('it is larger than {bytes} bytes', { bytes: maxBytes }));
  const lines = new LineCounter();
  const lineAt = (offset: number) => Math.max(1, lines.linePos(offset).line);
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  // Checked before composing, which is recursive and takes minutes for a text of brackets only.
  const deep = tooDeep(tokens);
  if (deep !== undefined)
    return refusal(lineAt(deep), t('it is nested deeper than {levels} levels', { levels: DEEPEST }));

  // The library would compare each key with all others; `wrongKey` checks them in linear time.
  const composer = new Composer({ version: '1.2', schema: 'core', resolveKnownTags: false, uniqueKeys: false });
  const [document, another] = [...composer.compose(tokens, true, text.length)];
  if (document === undefined) return refusal(1, t('it is not YAML'));
  if (another !== undefined) return refusal(lineAt(another.range[0]), t('it holds more than one document'));
  const [error] = [...document.errors, ...document.warnings];
  if (error !== undefined) return refusal(lineAt(error.pos[0]), sentence(error));
  const wrong = wrongKey(document);
  if (wrong !== undefined) return refusal(lineAt(wrong.offset), wrong.problem);

  const values = plainOf(document);
  if (values === undefined) return refusal(1, t('its aliases name nothing, multiply or hold themselves'));
  if (!isRecord(values)) return refusal(1, t('it must hold keys with values, as in "key: value"'));
  return { ok: true, values, lineOf: (key) => lineAt(offsetOf(document, key)) };
}

type Composed = Document.Parsed | Document;

function refusal(line: number, problem: string): YamlReading {
  return { ok: false, line, problem };
}

function sentence({ code, message }: { readonly code: string; readonly message: string }): string {
  if (code === 'TAG_RESOLVE_FAILED') return t('tags such as !this are not allowed');
  return t('it is not valid YAML: {problem}', { problem: message.split('\n')[0]?.slice(0, LONGEST_MESSAGE) ?? '' });
}

/** The offset of the first value that is nested too deeply. */
function tooDeep(tokens: readonly CST.Token[]): number | undefined {
  const left: { readonly token: CST.Token; readonly depth: number }[] = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { token, depth } = next;
    if (depth > DEEPEST) return 'offset' in token ? token.offset : 0;
    if (token.type === 'document' && token.value !== undefined) left.push({ token: token.value, depth });
    if (!('items' in token)) continue;
    for (const { key, value } of token.items) {
      if (key !== null && key !== undefined) left.push({ token: key, depth: depth + 1 });
      if (value !== undefined) left.push({ token: value, depth: depth + 1 });
    }
  }
  return undefined;
}

function wrongKey(document: Composed): { readonly problem: string; readonly offset: number } | undefined {
  let found: { readonly problem: string; readonly offset: number } | undefined;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<string>();
      for (const { key } of items) {
        const name = keyName(key);
        if (isScalar(key) && !seen.has(name)) {
          seen.add(name);
          continue;
        }
        const problem = isScalar(key)
          ? t('the key "{key}" is there twice', { key: name.slice(0, LONGEST_QUOTE) })
          : t('a key must be plain text');
        found = { problem, offset: isNode(key) ? (key.range?.[0] ?? 0) : 0 };
        return visit.BREAK;
      }
      return undefined;
    },
  });
  return found;
}

function keyName(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}

function plainOf(document: Composed): unknown {
  try {
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES }) ?? {};
    return freeze(value, new Set(), new Set()) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Freezes a value; `false` when the value contains itself. */
function freeze(value: unknown, path: Set<object>, done: Set<object>): boolean {
  if (typeof value !== 'object' || value === null || done.has(value)) return true;
  if (path.has(value)) return false;
  path.add(value);
  const sound = Object.values(value).every((part) => freeze(part, path, done));
  path.delete(value);
  done.add(Object.freeze(value));
  return sound;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function offsetOf(document: Composed, key: readonly (string | number)[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const part of key) {
    if (isAlias(node)) node = node.resolve(document);
    const pair = isMap(node) ? node.items.find((item) => keyName(item.key) === String(part)) : undefined;
    const item = pair === undefined && isSeq(node) && typeof part === 'number' ? node.items[part] : undefined;
    const start = pair?.key ?? item;
    if (!isNode(start)) break;
    offset = start.range?.[0] ?? offset;
    node = pair === undefined ? item : pair.value;
  }
  return offset;
}

/**
 * Writes plain data as YAML, for people.
 * @param nameOf the name for a text such as a role's id: added as a comment
 */
export function writeYaml(
  value: Readonly<Record<string, unknown>>,
  nameOf: (text: string) => string | undefined = () => undefined,
): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(key, node) {
      const name = typeof node.value === 'string' ? nameOf(node.value) : undefined;
      if (name === undefined) return;
      const comment = ` ${oneLine(name)}`;
      if (key === 'key') node.commentBefore = comment;
      else node.comment = comment;
    },
  });
  return document.toString({ lineWidth: 0 });
}
