import {
  CinnabarError,
  parseDuration,
  plainIssue,
  type SettingMention,
  type SettingType,
  t,
  translated,
} from '@cinnabar/sdk';
import { nearest } from '../nearest.js';
import { type Field, inWords, mentionInWords } from './fields.js';

const QUOTED = 60;

/**
 * The value that a text means for a setting, or the items of a list.
 * @param privately whether its author alone reads it
 * @throws CINNABAR_SETTING_INVALID with one sentence on what is wrong
 */
export function valueFrom(field: Field, given: string | readonly string[], privately: boolean): unknown {
  if (field.secret && !privately) {
    throw wrong(
      field,
      t('it is secret and others would read it here; use the environment, `settings`, or a direct message.'),
    );
  }
  const text = typeof given === 'string' ? given : given.join(', ');
  const parsed = typeof given === 'string' ? parseText(field.type, given) : parseItems(field.type, given);
  if (!parsed.ok) {
    const problem = not(field, parsed.problem, text);
    throw wrong(
      field,
      parsed.meant === undefined || field.secret
        ? `${problem}.`
        : t('{problem}; did you mean {meant}?', { problem, meant: parsed.meant }),
    );
  }
  const problem = field.check(parsed.value);
  if (problem === undefined) return parsed.value;
  if (problem.at !== '') {
    const words = { place: problem.at, problem: plainIssue(translated(problem.message)) };
    throw wrong(field, sentence(t('at {place}, {problem}', words)));
  }
  throw wrong(
    field,
    problem.custom ? sentence(translated(problem.message)) : `${not(field, expected(field.type), text)}.`,
  );
}

function wrong(field: Field, detail: string): CinnabarError {
  return new CinnabarError('CINNABAR_SETTING_INVALID', { key: field.key, detail });
}

/** The problem with what was typed, so that it cannot be taken for anything but a quotation; a secret is not repeated. */
function not(field: Field, problem: string, text: string): string {
  if (field.secret) return problem;
  const plain = text
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .replaceAll(/[`@<>"]/g, '')
    .trim();
  const typed = plain.length > QUOTED ? `${plain.slice(0, QUOTED)}…` : plain;
  return typed === '' ? problem : t('{problem}, not "{typed}"', { problem, typed });
}

function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

type Parsed =
  | { readonly ok: true; readonly value: unknown }
  /** `problem` is a clause: "it has to be yes or no"; `meant` what was probably meant. */
  | { readonly ok: false; readonly problem: string; readonly meant?: string };

const YES = ['yes', 'on', 'true', 'enable', 'enabled', '1'];
const NO = ['no', 'off', 'false', 'disable', 'disabled', '0'];
const MENTION: Readonly<Record<SettingMention, RegExp>> = {
  channel: /^<#(\d{1,20})>$/,
  user: /^<@!?(\d{1,20})>$/,
  member: /^<@!?(\d{1,20})>$/,
  role: /^<@&(\d{1,20})>$/,
};

/** Reads a value from what a person typed. Bounds and formats are the schema's to check, afterwards. */
function parseText(type: SettingType, typed: string): Parsed {
  const text = typed.trim();
  switch (type.kind) {
    case 'boolean':
      return parseBoolean(text);
    case 'number':
      return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? good(Number(text)) : bad(type);
    case 'duration':
      return parsed(parseDuration(text), t('{problem}, such as 90s, 10m, 1h30m or 2d', { problem: expected(type) }));
    case 'text':
      return good(typed);
    case 'mention':
      return parsed(MENTION[type.of].exec(text)?.[1] ?? /^\d{15,20}$/.exec(text)?.[0], mentionProblem(type.of));
    case 'choice':
      return parseChoice(type.values, text);
    case 'list':
      return parseList(type.of, text);
    case 'nothing':
      return ['none', 'null', 'nothing', ''].includes(text.toLowerCase()) ? good(null) : bad(type);
    case 'object':
      return parseObject(text);
    case 'anything':
      return good(json(text)?.value ?? typed);
    case 'either':
      return parseEither(type, typed);
  }
}

/** The clause that says what a value has to be. */
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

function parseBoolean(text: string): Parsed {
  const word = text.toLowerCase();
  if (YES.includes(word)) return good(true);
  return NO.includes(word) ? good(false) : bad({ kind: 'boolean' });
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

function parseList(of: SettingType, text: string): Parsed {
  const whole = text.startsWith('[') ? json(text) : undefined;
  if (whole !== undefined) return good(whole.value);
  if (of.kind === 'object' || of.kind === 'anything' || of.kind === 'list') {
    return { ok: false, problem: t('{problem}, written as JSON in [ ]', { problem: expected({ kind: 'list', of }) }) };
  }
  return parseEach(of, text.split(','));
}

function parseEach(of: SettingType, parts: readonly string[]): Parsed {
  const items: unknown[] = [];
  for (const part of parts.map((item) => item.trim())) {
    if (part === '') continue;
    const item = parseText(of, part);
    if (!item.ok) return { ...item, problem: t('of each item, {problem}', { problem: item.problem }) };
    items.push(item.value);
  }
  return good(items);
}

/** The items of a list that a form has already split. */
function parseItems(type: SettingType, items: readonly string[]): Parsed {
  const list = type.kind === 'either' ? type.of.find(({ kind }) => kind === 'list') : type;
  if (list?.kind === 'list') return parseEach(list.of, items);
  const [only = ''] = items;
  return items.length <= 1 ? parseText(type, only) : bad(type);
}

function parseObject(text: string): Parsed {
  const value = json(text)?.value;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return good(value);
  return { ok: false, problem: t('it has to be a JSON object, such as {example}', { example: '{"name": "value"}' }) };
}

function parseEither(type: Extract<SettingType, { kind: 'either' }>, typed: string): Parsed {
  // Text takes anything, so it comes last whatever the schema's order.
  const inOrder = [...type.of].sort((one, other) => Number(one.kind === 'text') - Number(other.kind === 'text'));
  for (const alternative of inOrder) {
    const result = parseText(alternative, typed);
    if (result.ok) return result;
  }
  return bad(type);
}
