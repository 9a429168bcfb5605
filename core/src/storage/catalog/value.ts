import {
  CinnabarError,
  parseDuration,
  plainIssue,
  readYesNo,
  type SettingMention,
  type SettingType,
  similarTimeZone,
  t,
  translated,
} from '@cinnabar/sdk';
import { nearest } from '../nearest.js';
import { type Field, inWords, mentionInWords } from './fields.js';

const QUOTED = 60;

/** Ids of the objects with a name in the place of the setting. @param name without `@` or `#` @returns `undefined` where no names are available */
type FindCalled = (of: SettingMention, name: string) => readonly string[] | undefined;

/**
 * Parses the value of a setting, or the items of a list, from text.
 * @param privately whether only the author of the value reads the error
 * @throws CINNABAR_SETTING_INVALID with one sentence about the problem
 */
export function valueFrom(
  field: Field,
  given: string | readonly string[],
  privately: boolean,
  called: FindCalled = () => undefined,
): unknown {
  if (field.secret && !privately) {
    throw wrong(
      field,
      t('it is secret and others would read it here; use the environment, `settings`, or a direct message.'),
    );
  }
  const text = typeof given === 'string' ? given : given.join(', ');
  const parsed =
    typeof given === 'string' ? parseText(field.type, given, called) : parseItems(field.type, given, called);
  if (!parsed.ok) {
    const problem = parsed.isNamed === true ? parsed.problem : not(field, parsed.problem, parsed.item ?? text);
    throw wrong(
      field,
      parsed.meant === undefined || field.secret
        ? `${problem}.`
        : t('{problem}; did you mean {meant}?', { problem, meant: parsed.meant }),
    );
  }
  const problem = field.check(parsed.value);
  if (problem === undefined) return parsed.value;
  const words = wordsOf(field.type, parsed.value);
  if (words !== undefined && field.check(words) === undefined) return words;
  if (problem.at !== '') throw wrong(field, sentence(ofPart(field, problem, parsed.value)));
  if (!problem.custom) throw wrong(field, `${not(field, expected(field.type), text)}.`);
  const meant = zoneMeant(field.type, text);
  const custom = translated(problem.message);
  throw wrong(
    field,
    meant === undefined
      ? sentence(custom)
      : t('{problem}; did you mean {meant}?', { problem: custom.replace(/\.$/, ''), meant }),
  );
}

/** A list given as one text with blanks, split into words; `undefined` for anything else. */
function wordsOf(type: SettingType, value: unknown): readonly string[] | undefined {
  if (type.kind !== 'list' || type.of.kind !== 'text' || !Array.isArray(value)) return undefined;
  const [only, ...others]: readonly unknown[] = value;
  return typeof only === 'string' && others.length === 0 && /\s/.test(only) ? only.split(/\s+/) : undefined;
}

/** The problem with a part of a value: an item of a list is quoted, not numbered. */
function ofPart(field: Field, { at, message }: { readonly at: string; readonly message: string }, value: unknown) {
  const problem = plainIssue(translated(message));
  const [, index = '', rest = ''] = /^(\d+)(?:\.(.+))?$/.exec(at) ?? [];
  if (!Array.isArray(value) || index === '' || field.secret) return t('at {place}, {problem}', { place: at, problem });
  const item: unknown = value[Number(index)];
  const shown = quotable(typeof item === 'string' ? item : JSON.stringify(item));
  return rest === ''
    ? t('of the item "{item}", {problem}', { item: shown, problem })
    : t('of the item "{item}", at {place}, {problem}', { item: shown, place: rest, problem });
}

function zoneMeant(type: SettingType, text: string): string | undefined {
  if (type.kind !== 'text' || type.format !== 'time-zone') return undefined;
  return similarTimeZone(text) ?? nearest(text.trim(), Intl.supportedValuesOf('timeZone'));
}

function wrong(field: Field, detail: string): CinnabarError {
  return new CinnabarError('CINNABAR_SETTING_INVALID', { key: field.key, detail });
}

/** The problem with what was typed, marked as a quotation; a secret is not repeated. */
function not(field: Field, problem: string, text: string): string {
  if (field.secret) return problem;
  const typed = quotable(text);
  return typed === '' ? problem : t('{problem}, not "{typed}"', { problem, typed });
}

/** The beginning of a text on one line, without mentions and links. */
function quotable(text: string): string {
  const plain = text
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .replaceAll(/[`@<>"]/g, '')
    .trim();
  return plain.length > QUOTED ? `${plain.slice(0, QUOTED)}…` : plain;
}

function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

type Parsed =
  | { readonly ok: true; readonly value: unknown }
  /** `problem` is a clause: "it has to be yes or no"; `meant` is a suggestion. */
  | {
      readonly ok: false;
      readonly problem: string;
      readonly meant?: string;
      /** For a list: the invalid item. */
      readonly item?: string;
      /** Whether the problem already quotes the typed text. */
      readonly isNamed?: boolean;
    };

const MENTION: Readonly<Record<SettingMention, RegExp>> = {
  channel: /^<#(\d{1,20})>$/,
  user: /^<@!?(\d{1,20})>$/,
  member: /^<@!?(\d{1,20})>$/,
  role: /^<@&(\d{1,20})>$/,
};

/** Parses a value that a person typed. The schema checks limits and formats afterwards. */
function parseText(type: SettingType, typed: string, called: FindCalled): Parsed {
  const text = typed.trim();
  switch (type.kind) {
    case 'boolean':
      return parsed(readYesNo(text), expected(type));
    case 'number':
      return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? good(Number(text)) : bad(type);
    case 'duration':
      return parsed(parseDuration(text), t('{problem}, such as 90s, 10m, 1h30m or 2d', { problem: expected(type) }));
    case 'text':
      return good(typed);
    case 'mention':
      return parseMention(type.of, text, called);
    case 'choice':
      return parseChoice(type.values, text);
    case 'list':
      return parseList(type.of, text, called);
    case 'nothing':
      return ['none', 'null', 'nothing', ''].includes(text.toLowerCase()) ? good(null) : bad(type);
    case 'object':
      return parseObject(text);
    case 'anything':
      return good(json(text)?.value ?? typed);
    case 'either':
      return parseEither(type, typed, called);
  }
}

/** The clause about the required form of a value: "it has to be yes or no". */
function expected(type: SettingType): string {
  const words = inWords(type);
  return ['choice', 'nothing', 'boolean', 'anything', 'text'].includes(type.kind)
    ? t('it has to be {type}', { type: words })
    : t('it has to be a {type}', { type: words });
}

function good(value: unknown): Parsed {
  return { ok: true, value };
}

function bad(type: SettingType): Parsed {
  return { ok: false, problem: expected(type) };
}

function parsed(value: unknown, problem: string): Parsed {
  return value === undefined ? { ok: false, problem } : good(value);
}

/** Parses a mention, an id, or a name that exists. */
function parseMention(of: SettingMention, text: string, called: FindCalled): Parsed {
  const id = MENTION[of].exec(text)?.[1] ?? /^\d{15,20}$/.exec(text)?.[0];
  if (id !== undefined) return good(id);
  const name = text.replace(/^[@#]/, '');
  const found = name === '' || /[<>]/.test(name) ? undefined : called(of, name.toLowerCase());
  if (found === undefined) return { ok: false, problem: mentionProblem(of) };
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return good(only);
  const problem =
    only === undefined
      ? noneCalled(of, quotable(name))
      : t('{count} are called "{name}": mention the one that you mean', { count: found.length, name: quotable(name) });
  return { ok: false, problem, isNamed: true };
}

function noneCalled(of: SettingMention, name: string): string {
  switch (of) {
    case 'channel':
      return t('no channel here is called "{name}": mention it, or give its id', { name });
    case 'role':
      return t('no role here is called "{name}": mention it, or give its id', { name });
    case 'user':
    case 'member':
      return t('I know no member here who is called "{name}": mention them, or give their id', { name });
  }
}

function mentionProblem(of: SettingMention): string {
  return t('it has to be a {type}: mention it, or give its id', { type: mentionInWords(of) });
}

function parseChoice(values: readonly unknown[], text: string): Parsed {
  const exact = values.filter((value) => String(value) === text);
  const matching =
    exact.length > 0 ? exact : values.filter((value) => String(value).toLowerCase() === text.toLowerCase());
  if (matching.length === 1) return good(matching[0]);
  const meant = nearest(text, values.map(String));
  const problem = expected({ kind: 'choice', values });
  return meant === undefined ? { ok: false, problem } : { ok: false, problem, meant };
}

function json(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Parses a list as JSON, or as items that are separated by commas, or by blanks when no item can contain one. */
function parseList(of: SettingType, text: string, called: FindCalled): Parsed {
  const whole = text.startsWith('[') ? json(text)?.value : undefined;
  if (whole !== undefined) {
    const areNames = of.kind === 'mention' && Array.isArray(whole) && whole.every((item) => typeof item === 'string');
    return areNames ? parseEach(of, whole, called) : good(whole);
  }
  if (of.kind === 'object' || of.kind === 'anything' || of.kind === 'list') {
    return { ok: false, problem: t('{problem}, written as JSON in [ ]', { problem: expected({ kind: 'list', of }) }) };
  }
  const parts = text.split(',');
  const listed = parseEach(of, parts, called);
  return listed.ok || parts.length > 1 || !/\s/.test(text) ? listed : parseEach(of, text.split(/\s+/), called);
}

function parseEach(of: SettingType, parts: readonly string[], called: FindCalled): Parsed {
  const items: unknown[] = [];
  for (const part of parts.map((item) => item.trim())) {
    if (part === '') continue;
    const item = parseText(of, part, called);
    if (!item.ok) {
      const problem = item.isNamed === true ? item.problem : t('of each item, {problem}', { problem: item.problem });
      return { item: part, ...item, problem };
    }
    items.push(item.value);
  }
  return good(items);
}

/** Parses the items of a list that a form has already split. */
function parseItems(type: SettingType, items: readonly string[], called: FindCalled): Parsed {
  const list = type.kind === 'either' ? type.of.find(({ kind }) => kind === 'list') : type;
  if (list?.kind === 'list') return parseEach(list.of, items, called);
  const [only = ''] = items;
  return items.length <= 1 ? parseText(type, only, called) : bad(type);
}

function parseObject(text: string): Parsed {
  const value = json(text)?.value;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return good(value);
  return { ok: false, problem: t('it has to be a JSON object, such as {example}', { example: '{"name": "value"}' }) };
}

function parseEither(type: Extract<SettingType, { kind: 'either' }>, typed: string, called: FindCalled): Parsed {
  // `text` accepts anything, so it is tried last.
  const inOrder = [...type.of].sort((one, other) => Number(one.kind === 'text') - Number(other.kind === 'text'));
  let named: Parsed | undefined;
  for (const alternative of inOrder) {
    const result = parseText(alternative, typed, called);
    if (result.ok) return result;
    named ??= result.isNamed === true ? result : undefined;
  }
  return named ?? bad(type);
}
