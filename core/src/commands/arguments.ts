import { parseDuration, readYesNo, t, translated } from '@cinnabar/sdk';
import { echo } from './answers.js';
import { type Found, findChannel, findMember, findRole, findUser, type Place } from './find.js';
import { asSentence, type Choice, type OptionKind, type OptionSpec, wordsFor } from './options.js';
import { nearest } from './registry.js';

/**
 * Finds the end of a command's prefix: the longest of the guild's prefixes, or a mention of the bot. Allocates nothing, since it runs for every message.
 * @returns the index after the prefix, 0 when there is none
 */
export function prefixEnd(content: string, prefixes: readonly string[], botId: string): number {
  let end = 0;
  for (const prefix of prefixes) {
    if (prefix.length > end && content.startsWith(prefix)) end = prefix.length;
  }
  return end === 0 ? mentionEnd(content, botId) : end;
}

/** `<@id>` or `<@!id>` at the start. */
function mentionEnd(content: string, botId: string): number {
  if (!content.startsWith('<@')) return 0;
  const start = content[2] === '!' ? 3 : 2;
  const end = start + botId.length;
  return content[end] === '>' && content.startsWith(botId, start) ? end + 1 : 0;
}

type Given = { readonly given: ReadonlyMap<string, string> } | { readonly problem: Problem };

/**
 * Reads the arguments of a prefix command: options by position, optional ones also by name, and the rest of the text, exactly as typed, for an option of kind
 * `rest`. Before such an option, an optional one takes a word only when the word has its form: `ban @alice 7 spam` and `ban @alice spam`. Files are given in
 * the order in which they are attached.
 * @param from the index in `source` after the command's name
 */
export function readArguments(
  specs: readonly OptionSpec[],
  source: string,
  from: number,
  attachmentIds: readonly string[] = [],
): Given {
  const given = new Map(filesByOption(specs, attachmentIds));
  const positional = specs.filter((spec) => spec.kind !== 'attachment');
  let at = from;
  /** The number of positional options that the last word has skipped: these can only be given by name. */
  let passed = 0;
  for (let token = readToken(source, at); token !== undefined; token = readToken(source, at)) {
    const open = positional.slice(passed).filter((spec) => !given.has(spec.name));
    const hasRest = open.at(-1)?.kind === 'rest';
    const next = open.find((spec) => !hasRest || spec.required || fits(spec, token));
    const named = readNamed(source, token, positional);
    if (next?.kind === 'rest' && (named === undefined || (named.spec === next && next === open[0]))) {
      given.set(next.name, source.slice(skipSpace(source, at)));
      break;
    }
    const argument = named ?? positionalArgument(next, token);
    if ('problem' in argument) return argument;
    const { name } = argument.spec;
    if (argument.value === undefined) return wrong(name, t('`{name}` has no value.', { name }));
    if (given.has(name)) return wrong(name, t('`{name}` is given twice.', { name }));
    given.set(name, argument.value);
    if (named === undefined) passed = positional.indexOf(argument.spec) + 1;
    at = argument.end;
  }
  return { given };
}

/** Whether a word can be meant for an option of a kind; kinds that are not listed accept any word. */
const LOOKS: { readonly [K in OptionKind]?: (typed: string, spec: OptionSpec) => boolean } = {
  integer: (typed) => NUMBER.test(typed),
  number: (typed) => NUMBER.test(typed),
  // "An" is German for "on", and the beginning of many English texts.
  boolean: (typed) => typed.toLowerCase() !== 'an' && readYesNo(typed) !== undefined,
  duration: (typed) => parseDuration(typed) !== undefined,
  choice: (typed, { choices }) => choices.some(({ label }) => label.toLowerCase() === typed.toLowerCase()),
  user: (typed) => /^(?:<@!?\d+>|\d{15,21}|@.+)$/.test(typed),
  member: (typed) => /^(?:<@!?\d+>|\d{15,21}|@.+)$/.test(typed),
  role: (typed) => /^(?:<@&\d+>|\d{15,21}|@.+)$/.test(typed),
  channel: (typed) => /^(?:<#\d+>|\d{15,21}|#.+)$/.test(typed),
};

function fits(spec: OptionSpec, { text, quoted }: ArgumentToken): boolean {
  const looks = LOOKS[spec.kind];
  return looks === undefined || (!quoted && looks(text, spec));
}

function positionalArgument(spec: OptionSpec | undefined, token: ArgumentToken) {
  return spec === undefined
    ? wrong(
        undefined,
        t('{typed} is too much for this command. Put text with spaces in quotes.', { typed: echo(token.text) }),
      )
    : { spec, value: token.text, end: token.end };
}

function filesByOption(specs: readonly OptionSpec[], ids: readonly string[]): readonly (readonly [string, string])[] {
  const files = specs.filter((spec) => spec.kind === 'attachment');
  return files.flatMap((spec, index) => {
    const id = ids[index];
    return id === undefined ? [] : [[spec.name, id] as const];
  });
}

function wrong(option: string | undefined, sentence: string) {
  return { problem: { option, sentence } };
}

/** An optional option given by its name: `times:3`, `--times 3`, or `--quiet` for a yes. */
interface NamedArgument {
  readonly spec: OptionSpec;
  /** `undefined` when the value is missing. */
  readonly value: string | undefined;
  readonly end: number;
}

/** The value that `token` gives when it names one of the optional options; `undefined` when it is an ordinary argument. */
function readNamed(source: string, token: ArgumentToken, specs: readonly OptionSpec[]): NamedArgument | undefined {
  if (token.quoted) return undefined;
  const flag = token.text.startsWith('--');
  const colon = token.text.indexOf(':');
  if (!flag && (colon < 1 || colon === token.text.length - 1)) return undefined;
  const name = (flag ? token.text.slice(2) : token.text.slice(0, colon)).toLowerCase();
  const spec = specs.find((one) => !one.required && one.name === name);
  if (spec === undefined) return undefined;
  if (flag && spec.kind === 'boolean') return { spec, value: 'yes', end: token.end };
  return readValue(source, spec, flag ? token.end : token.start + colon + 1);
}

function readValue(source: string, spec: OptionSpec, from: number): NamedArgument {
  if (spec.kind === 'rest') {
    const rest = source.slice(skipSpace(source, from));
    return { spec, value: rest === '' ? undefined : rest, end: source.length };
  }
  const value = readToken(source, from);
  return { spec, value: value?.text, end: value?.end ?? source.length };
}

/** One argument as it was typed. */
export interface ArgumentToken {
  /** Without its quotes and escapes. */
  readonly text: string;
  readonly quoted: boolean;
  readonly start: number;
  /** The index after it, closing quote included. */
  readonly end: number;
}

/** Opening quotes and what closes them. */
const QUOTES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
  ['«', '»'],
]);

/**
 * Reads the next argument from `from` on. A quote opens only at the start of an argument and closes only at its end, so that `it's` and `5"` are ordinary text;
 * an unclosed quote is ordinary text, too. A backslash makes a quote ordinary.
 * @returns `undefined` at the end of the text
 */
export function readToken(source: string, from: number): ArgumentToken | undefined {
  const start = skipSpace(source, from);
  if (start >= source.length) return undefined;
  const quoted = readQuoted(source, start);
  if (quoted !== undefined) return quoted;
  const end = skipWord(source, start);
  const escaped = source[start] === '\\' && QUOTES.has(source.charAt(start + 1));
  return { text: source.slice(escaped ? start + 1 : start, end), quoted: false, start, end };
}

function readQuoted(source: string, start: number): ArgumentToken | undefined {
  const open = source.charAt(start);
  const close = QUOTES.get(open);
  if (close === undefined) return undefined;
  let text = '';
  for (let at = start + 1; at < source.length; at++) {
    const character = source.charAt(at);
    const next = source.charAt(at + 1);
    if (character === '\\' && (next === '\\' || next === open || next === close)) {
      text += next;
      at++;
    } else if (character === close && endsAt(source, at + 1)) {
      return { text, quoted: true, start, end: at + 1 };
    } else {
      text += character;
    }
  }
  return undefined;
}

function endsAt(source: string, index: number): boolean {
  return index >= source.length || isSpaceAt(source, index);
}

const SPACE = /\s/;

/** Whether there is white space (a line break too) at the index; past the end there is none. */
function isSpaceAt(source: string, index: number): boolean {
  const code = source.charCodeAt(index);
  // Nearly every character is decided without the regular expression.
  if (code === 32 || (code >= 9 && code <= 13)) return true;
  return code > 127 && SPACE.test(source.charAt(index));
}

/** The first index from `from` on that is not white space. */
export function skipSpace(source: string, from: number): number {
  let at = from;
  while (isSpaceAt(source, at)) at++;
  return at;
}

/** The first index from `from` on that is white space, or the end. */
export function skipWord(source: string, from: number): number {
  let at = from;
  while (at < source.length && !isSpaceAt(source, at)) at++;
  return at;
}

/** A problem in what a member typed. */
export interface Problem {
  /** The option concerned; `undefined` when there is none (too many words). */
  readonly option: string | undefined;
  /** One sentence for people. */
  readonly sentence: string;
}

export type Values = Readonly<Record<string, unknown>>;
type Bound = { readonly values: Values } | { readonly problem: Problem };

type BoundOne = { readonly value: unknown } | { readonly problem: Problem };

/** Converts and validates the value of each option, and stops at the first problem. */
export async function bindOptions(
  specs: readonly OptionSpec[],
  given: ReadonlyMap<string, GivenValue>,
  place: Place,
): Promise<Bound> {
  const values = new Map<string, unknown>();
  for (const spec of specs) {
    const bound = await bindOne(spec, given.get(spec.name), place);
    if ('problem' in bound) return bound;
    values.set(spec.name, bound.value);
  }
  return { values: Object.fromEntries(values) };
}

async function bindOne(spec: OptionSpec, given: GivenValue | undefined, place: Place): Promise<BoundOne> {
  const wrong = (sentence: string): BoundOne => ({ problem: { option: spec.name, sentence } });
  if (given === undefined && spec.required) return wrong(t('`{name}` is missing.', { name: spec.name }));
  const input = given === undefined ? { value: spec.absent } : await convert(spec, given, place);
  if ('problem' in input) return wrong(input.problem);
  const words = wordsFor(spec, String(given ?? ''));
  const parsed = await spec.schema.safeParseAsync(input.value, { error: words });
  return parsed.success
    ? { value: parsed.data }
    : wrong(asSentence(spec, translated(parsed.error.issues[0]?.message ?? t('is not right'))));
}

/** A member's value for one option: words of a message, or the value of a slash option. */
export type GivenValue = string | number | boolean;

type Converter = (spec: OptionSpec, typed: string, place: Place) => Found<unknown> | Promise<Found<unknown>>;

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

const CONVERTERS: Readonly<Record<OptionKind, Converter>> = {
  text: (_spec, typed) => ({ value: typed }),
  rest: (_spec, typed) => ({ value: typed }),
  integer: (spec, typed) => number(spec, typed, t('a whole number')),
  number: (spec, typed) => number(spec, typed, t('a number')),
  boolean: (spec, typed) => orProblem(readYesNo(typed), spec, typed, t('yes or no')),
  duration: (spec, typed) => orProblem(parseDuration(typed), spec, typed, t('a duration such as `90s` or `1h30m`')),
  choice: (spec, typed) => choose(spec.name, spec.choices, typed),
  user: (_spec, typed, place) => findUser(place, typed),
  member: (spec, typed, { guild }) => (guild === null ? outsideGuild(spec) : findMember(guild, typed)),
  role: (spec, typed, { guild }) => (guild === null ? outsideGuild(spec) : findRole(guild, typed)),
  channel: (spec, typed, { guild }) =>
    guild === null ? outsideGuild(spec) : findChannel(guild, typed, spec.channelTypes),
  attachment: (spec, typed, { attachments }) => orProblem(attachments.get(typed), spec, typed, t('a file')),
};

/** Converts a given value to the input of the option's schema. */
function convert(spec: OptionSpec, given: GivenValue, place: Place): Found<unknown> | Promise<Found<unknown>> {
  // Slash options of these kinds arrive as values of their type.
  if (typeof given !== 'string') return { value: given };
  return CONVERTERS[spec.kind](spec, given, place);
}

function number(spec: OptionSpec, typed: string, what: string): Found<unknown> {
  return orProblem(NUMBER.test(typed) ? Number(typed) : undefined, spec, typed, what);
}

function orProblem(value: unknown, spec: OptionSpec, typed: string, what: string): Found<unknown> {
  return value === undefined
    ? { problem: t('`{name}` must be {what}; you gave {typed}.', { name: spec.name, what, typed: echo(typed) }) }
    : { value };
}

function outsideGuild(spec: OptionSpec): Found<unknown> {
  return {
    problem: t(
      '`{name}` must be a {kind, select, member {member} role {role} other {channel}} of a server, and this is a direct message.',
      { name: spec.name, kind: spec.kind },
    ),
  };
}

/** One of the choices, ignoring case; otherwise the list of choices, the nearest first. */
function choose(name: string, choices: readonly Choice[], typed: string): Found<unknown> {
  const folded = typed.toLowerCase();
  const chosen =
    choices.find((choice) => choice.label === typed) ?? choices.find((choice) => choice.label.toLowerCase() === folded);
  if (chosen !== undefined) return { value: chosen.value };
  const labels = choices.map((choice) => choice.label);
  const [near] = nearest(typed, labels);
  const values = { name, choices: labels.map(echo).join(', '), typed: echo(typed) };
  return {
    problem:
      near === undefined
        ? t('`{name}` must be one of {choices}; you gave {typed}.', values)
        : t('`{name}` must be one of {choices}; you gave {typed}. Did you mean {near}?', {
            ...values,
            near: echo(near),
          }),
  };
}
