import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from 'zod';
import { defineToken } from '../token.js';

/** The arguments of a message, by name. `{n, number}` and `{when, date}` are formatted for the language. */
export type MessageValues = Readonly<Record<string, string | number | Date>>;

/** A language in which the bot speaks to people. */
export interface Language {
  /** BCP 47: `de`. */
  readonly locale: string;
  /** The message in this language; `undefined` when it is not translated. */
  translate(message: string): string | undefined;
}

/** Writes an ICU message with its values filled in. */
export type MessageFormatter = (locale: string, message: string, values: MessageValues) => string;

/** The language of the messages in the code. */
export const SOURCE_LOCALE = 'en';

const spoken = new AsyncLocalStorage<Language>();

/** Fills in plain arguments only, until the host sets a formatter for plurals and dates. */
let format: MessageFormatter = (_locale, message, values) => fillIn(partsOf(message), values);

/**
 * A text for people, in the language of the current member or guild: the translation in `locales/<language>.json`, otherwise the English message. Call it while
 * an event is handled, never when a module is loaded.
 * @param message ICU message syntax, and the key in the catalogues; without `values` it is used literally, including braces
 * @see https://unicode-org.github.io/icu/userguide/format_parse/messages/
 * @example t('You have {count, plural, one {# warning} other {# warnings}}.', { count })
 */
export function t(message: string, values?: MessageValues): string {
  const language = spoken.getStore();
  const translated = language?.translate(message);
  const text = translated ?? message;
  if (values === undefined) return text;
  const parts = plainParts(text);
  if (parts !== false) return fillIn(parts, values);
  return format(translated === undefined ? SOURCE_LOCALE : (language?.locale ?? SOURCE_LOCALE), text, values);
}

/**
 * A text that was declared elsewhere, in the current language: the description of a command, a setting or a tool. Texts in code have to use `t`, so that a test
 * can check their translations.
 */
export const translated = (declared: string): string => spoken.getStore()?.translate(declared) ?? declared;

/** A list in the current language: `a, b, and c`. */
export const inWords = (parts: readonly string[]): string =>
  new Intl.ListFormat(currentLocale(), { type: 'conjunction' }).format(parts);

/** The locale of the current language, for `Intl`. */
export const currentLocale = (): string => spoken.getStore()?.locale ?? SOURCE_LOCALE;

/**
 * Runs a task, and its asynchronous continuations, in a language. For the host, and for plugins' background work through `Languages`.
 * @param language `undefined` for English
 */
export function speaking<T>(language: Language | undefined, task: () => T): T {
  // Before Node 24, an active `AsyncLocalStorage` costs a fifth of all processor time, so a bot with English alone never activates it.
  if (language === undefined && spoken.getStore() === undefined) return task();
  return spoken.run(language ?? ENGLISH, task);
}

const ENGLISH: Language = { locale: SOURCE_LOCALE, translate: (message) => message };

/** Sets the formatter for plurals, selections, numbers and dates; the host calls it once. */
export function formatMessagesWith(formatter: MessageFormatter): void {
  format = formatter;
}

/** Text and `{name}` only; an apostrophe before a brace quotes it. */
const PLAIN = /^(?:[^{}']|'(?![{}'])|\{\w+\})*$/;

/** Plain messages, as alternating texts and names; `false` for messages that need the formatter. The keys are the messages of the code and the catalogues. */
const known = new Map<string, readonly string[] | false>();
const MOST_KNOWN = 10_000;

/** Parsed once for each message: every command formats the reasons of its access decision. */
function plainParts(message: string): readonly string[] | false {
  let parts = known.get(message);
  if (parts === undefined) {
    parts = PLAIN.test(message) && partsOf(message);
    // Only a caller that passes variable texts as messages can have so many.
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(message, parts);
  }
  return parts;
}

const partsOf = (message: string): readonly string[] => message.split(/\{(\w+)\}/);

function fillIn(parts: readonly string[], values: MessageValues): string {
  let text = '';
  for (const [index, part] of parts.entries()) text += index % 2 === 0 ? part : (values[part] ?? `{${part}}`);
  return text;
}

/** The languages of members and guilds. Provided by the host. */
export interface Languages {
  /** Locales with a catalogue, English first. */
  readonly available: readonly string[];
  /** Runs a task, such as background work, in a member's language (or that of the guild, when no member is named). */
  speak<T>(audience: Audience, task: () => T | Promise<T>): Promise<T>;
  /**
   * Sets the source of the choices of members and guilds. Called by the plugin that stores the choices; the last call counts.
   * @returns a function that removes the source
   */
  chooseBy(choice: LanguageChoice): () => void;
}

/**
 * The locale of an audience: the member's choice, otherwise `shown`, otherwise the guild's choice. Called for every command: answer from memory where possible.
 * @param shown the language of the member's Discord client, which interactions contain
 */
export type LanguageChoice = (
  audience: Audience,
  shown: string | undefined,
) => string | undefined | Promise<string | undefined>;

/** The audience of a text. */
export interface Audience {
  readonly guildId: string | null;
  readonly userId?: string | undefined;
}

export const Languages = defineToken<Languages>('cinnabar.languages');

const YES = ['yes', 'y', 'true', 'on', '1', 'enable', 'enabled', 'ja', 'an', 'wahr'];
const NO = ['no', 'n', 'false', 'off', '0', 'disable', 'disabled', 'nein', 'aus', 'falsch'];

/** Parses yes or no as people type it, in English or German, whatever the member's language; `undefined` for any other word. */
export function readYesNo(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  if (YES.includes(word)) return true;
  return NO.includes(word) ? false : undefined;
}

/**
 * Parameters for `parse` that make zod report issues in the current language, or in English where zod has no translation. Messages of the schema's author take
 * precedence, and are translated.
 * @example z.safeParse(schema, value, issueLanguage())
 */
export function issueLanguage(): z.core.ParseContext<z.core.$ZodIssue> {
  const locale = currentLocale();
  if (locale === SOURCE_LOCALE) return {};
  const words = Object.entries(z.locales).find(([name]) => name === locale)?.[1];
  return words === undefined ? {} : { error: words().localeError };
}

/** zod's message without its label: `expected number, received string`. */
export const plainIssue = (message: string): string => message.replace(LABEL, '');

/** zod's labels in all languages that the host has catalogues for. */
const LABEL =
  /^(?:Invalid input|Too (?:big|small)|Invalid \w+|Ungültige Eingabe|Zu (?:groß|klein)|Ungültig(?:er? \w+)?): /;
