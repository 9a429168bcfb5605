import { createRequire } from 'node:module';

/*
 * Text of members and models, which is never trusted: made harmless for Discord (`visible`, `plainText`), as a name among other names (`sanitizeName`,
 * `participantNames`, `isConfusable`), and in a prompt in which lines in square brackets are the host's (`withoutNotes`, `inNote`). For a value inside a
 * message of your own, use both: `plainText(visible(value))`.
 */

/**
 * In this order: control, format and otherwise ignorable characters, lone surrogates, private use, the blank Braille cell · stacks of combining marks that
 * would cover other lines · the two signs that `visible` itself writes, so that text cannot imitate its output.
 */
const HIDDEN = [
  '[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800]',
  '(?<=\\p{M}{4})\\p{M}',
  '⏎|‹(?=U\\+)',
].join('|');
/** Joiner, variation selector and tags: allowed in a whole emoji, hidden elsewhere. */
const JOINERS = '\\u200D\\uFE0F\\u{E0020}-\\u{E007F}';
/**
 * A whole emoji with joiners. `RGI_Emoji` is an alternation of thousands of texts, which V8 compiles to half a megabyte of code, or interprets a hundred times
 * slower in a process with much code; so the pattern is only tried where such an emoji can begin (Unicode UTS 51, ED-15a to ED-16).
 */
const JOINED_EMOJI = `(?=\\p{Emoji}\\p{Emoji_Modifier}?[${JOINERS}])\\p{RGI_Emoji}`;

// Built from strings because the `v` flag is newer than the compiler's target; Node 20 has it.
const joiner = new RegExp(`[${JOINERS}]`, 'v');
const hidden = new RegExp(HIDDEN, 'gv');
let hiddenBesideEmoji: RegExp | undefined;

/**
 * Replaces invisible characters by visible ones: `‹U+202E›` for a control, format or other invisible character, `⏎` for a line feed. Different texts stay
 * different, and the result is always one line.
 * @example visible('a\u202Eb\nc') // 'a‹U+202E›b⏎c'
 */
export function visible(text: string): string {
  if (!joiner.test(text)) return text.replace(hidden, shown);
  // Compiled at the first use: the list of all emoji takes milliseconds.
  hiddenBesideEmoji ??= new RegExp(`(?<emoji>${JOINED_EMOJI})|${HIDDEN}`, 'gv');
  return text.replace(hiddenBesideEmoji, (found: string, emoji: string | undefined) => emoji ?? shown(found));
}

function shown(found: string): string {
  return found === '\n' ? '⏎' : named(found);
}

function named(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `‹U+${hex}›`;
}

/** Characters that are markup anywhere in a line, by themselves or as the start of a link, a mention or a spoiler. */
const INLINE_MARKUP = /[\\*_~`|<]|\](?=\()|@(?=everyone|here)|:(?=\/\/)/g;
/** Characters that are markup at the start of a line: quotes, headings, small print, lists. */
const LINE_MARKUP = /^([ \t]*)(#|>|[-+](?=[\s#]|$)|\d+(?=[.)](?:\s|$)))/gm;

/**
 * Escapes Discord's markdown, mentions and links, so that the text is shown as it was typed. Also send it with `allowedMentions: { parse: [] }`: Discord
 * evaluates pings before backslashes.
 * @example plainText('**V** <@1>') // '\\*\\*V\\*\\* \\<@1>'
 */
export function plainText(text: string): string {
  return text
    .replace(INLINE_MARKUP, '\\$&')
    .replace(LINE_MARKUP, (_, indent: string, mark: string) => `${indent}${listNumberSafe(mark)}`);
}

/** Before a digit, Discord would show the backslash; after the digits, the backslash escapes the dot. */
function listNumberSafe(mark: string): string {
  return /\d/.test(mark) ? `${mark}\\` : `\\${mark}`;
}

/** A name or topic within a line, in bold, with its markup escaped: the name cannot end the bold text and imitate the rest of the line. */
export function nameText(name: string): string {
  return `**${plainText(visible(name))}**`;
}

/** Unicode's table of confusable characters (package `unhomoglyph`). Loaded at the first use, which takes milliseconds. */
let loaded: ((text: string) => string) | undefined;

/**
 * The visual skeleton of a text: texts that people could confuse have the same skeleton, whatever their characters (Unicode UTS 39).
 * @example skeletonOf('Аlice') === skeletonOf('Alice') // the first one begins with a Cyrillic А
 */
export function skeletonOf(text: string): string {
  loaded ??= createRequire(import.meta.url)('unhomoglyph') as (text: string) => string;
  return loaded(text.normalize('NFKD'));
}

/** A name without case, width, accents, decoration and look-alike letters. Names with equal results are too similar to be told apart. */
export function likenessOf(name: string): string {
  // `i` counts as `l`: a capital I looks like an l, and is an i in lower case.
  const letters = skeletonOf(skeletonOf(name.normalize('NFKD').toLowerCase()).toLowerCase())
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replaceAll('i', 'l');
  return letters || name;
}

/** Scripts with letters that look like letters of another script in this list. */
const LOOKALIKES = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic', 'Lisu', 'Deseret', 'Georgian'].map(
  (script) => new RegExp(`\\p{Script=${script}}`, 'u'),
);
const ASCII_NAME = /^[\p{ASCII}]*$/u;
const LETTER = /\p{L}/u;

/**
 * Whether a name can imitate another one: its letters come from several scripts that look alike, or all of them from another script than Latin although they
 * look Latin.
 */
export function isConfusable(name: string): boolean {
  if (ASCII_NAME.test(name)) return false;
  const scripts = LOOKALIKES.filter((script) => script.test(name)).length;
  if (scripts > 1) return true;
  const letters = [...name.normalize('NFKC')].filter((character) => LETTER.test(character)).join('');
  return letters !== '' && !/\p{Script=Latin}/u.test(letters) && ASCII_NAME.test(skeletonOf(letters));
}

/** A participant of a conversation. */
export interface Named {
  readonly id: string;
  /** The name shown in the channel: chosen by the person, never trusted. */
  readonly displayName: string;
  /** Unique on Discord; distinguishes people with the same display name. */
  readonly username: string;
}

const MAX_NAME = 40;
/** Control, format and private-use characters, surrogates on their own, line and paragraph separators. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0\u2800]/gu;
/** Characters that structure a transcript: colons of every script, brackets, quotes. */
const STRUCTURE = /[:\uff1a\ufe55\ufe13\ua789\u02d0<>[\]{}|`\\"]+/gu;

/**
 * A display name that cannot imitate the structure of a transcript: one line, no colons, brackets or invisible characters, at most 40 characters. Empty when no
 * readable character is left.
 */
export function sanitizeName(name: string): string {
  const plain = name.normalize('NFKC').replace(INVISIBLE, '').replace(STRUCTURE, ' ').replace(/\s+/gu, ' ').trim();
  return [...plain].slice(0, MAX_NAME).join('').trim();
}

/**
 * Names for the participants of a conversation, by id: readable, different from one another, and never one of `reserved` (the bot's own name, `System`). People
 * with the same name get their usernames appended, so that none can imitate the other. A confusable name (`isConfusable`) gets the person's id appended.
 */
export function participantNames(people: Iterable<Named>, reserved: readonly string[]): ReadonlyMap<string, string> {
  const byId = new Map<string, Named>();
  for (const person of people) byId.set(person.id, person);
  const taken = new Set(reserved.map(likenessOf));
  const sharing = new Map<string, number>();
  for (const person of byId.values()) {
    const key = likenessOf(plainName(person));
    sharing.set(key, (sharing.get(key) ?? 0) + 1);
  }
  const names = new Map<string, string>();
  const claim = (id: string, name: string): boolean => {
    if (taken.has(likenessOf(name))) return false;
    taken.add(likenessOf(name));
    names.set(id, name);
    return true;
  };
  const shared: Named[] = [];
  for (const person of byId.values()) {
    const name = plainName(person);
    if (isConfusable(name) || sharing.get(likenessOf(name)) !== 1 || !claim(person.id, name)) shared.push(person);
  }
  for (const person of shared) {
    const name = plainName(person);
    if (isConfusable(name)) claim(person.id, `${name} (${person.id})`);
    else if (!claim(person.id, `${name} (${sanitizeName(person.username)})`))
      claim(person.id, `${name} (${person.id})`);
  }
  return names;
}

function plainName(person: Named): string {
  return sanitizeName(person.displayName) || sanitizeName(person.username) || `member ${person.id}`;
}

/** Every character or pair that a reader, human or model, may see as a line end. */
const LINE_END = /(\r\n|[\n\r\v\f\u0085\u2028\u2029])/u;
const NOTE = /^(?:\[.*\]|not run yet:.*)$/iu;
/** Matches most texts: without hidden characters and brackets. */
const HARMLESS = /^(?!.*not run yet:)[\x20-\x5A\x5C-\x7E\n]*$/is;
const FIRST_SEEN = /[^\s\p{C}\p{Z}\u115F\u1160\u3164\uFFA0\u2800]/u;

/**
 * A member's text for a prompt in which a line in square brackets, or one that begins with "Not run yet:", is a note of the host: each line that reads as such
 * a note gets a backslash, including notes with hidden characters or wide brackets.
 * @example withoutNotes('fine\n[in reply to Claude]') // 'fine\n\\[in reply to Claude]'
 */
export function withoutNotes(text: string): string {
  if (HARMLESS.test(text)) return text;
  return text
    .split(LINE_END)
    .map((line) => (isNote(line) ? line.replace(FIRST_SEEN, '\\$&') : line))
    .join('');
}

function isNote(line: string): boolean {
  return NOTE.test(line.normalize('NFKC').replace(INVISIBLE, '').trim());
}

const LONGEST = 300;

/** A member's text as one line: every character that may be seen as a line end becomes a space. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Z}\s]+/gu, ' ').trim();
}

/** A member's text for the inside of a note of the host: one line, without characters that end the note, at most `maxLength` characters. */
export function inNote(text: string, maxLength = LONGEST): string {
  const line = oneLine(text)
    // Also replaces full-width brackets and those of vertical text.
    .replace(/[[\uff3b\ufe47]/gu, '(')
    .replace(/[\]\uff3d\ufe48]/gu, ')');
  const characters = line.length <= maxLength ? [] : [...line];
  return characters.length <= maxLength ? line : `${characters.slice(0, maxLength).join('')}…`;
}
