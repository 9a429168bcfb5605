import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from 'zod';
import { defineToken } from '../token.js';

/** The arguments of a message, by name. Numbers and dates in `{n, number}` and `{when, date}` are written as the language writes them. */
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

/** Fills in plain arguments only. The host brings a formatter that knows plurals and dates. */
let format: MessageFormatter = (_locale, message, values) => fillIn(partsOf(message), values);

/**
 * A message for people, in the language of the member or guild that is being served: what the catalogues of `locales/<language>.json` have for it,
 * else English. Call it while you handle something, never when a module is loaded.
 * @param message ICU message syntax, and the key in the catalogues; without `values` it is taken as it is, braces included
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
 * A text that was declared elsewhere, in the current language: the description of a command, a setting or a tool. Texts in code go through `t`,
 * so that they are found for the catalogues.
 */
export const translated = (declared: string): string => spoken.getStore()?.translate(declared) ?? declared;

/** A list in the current language: `a, b, and c`. */
export const inWords = (parts: readonly string[]): string =>
  new Intl.ListFormat(currentLocale(), { type: 'conjunction' }).format(parts);

/** The locale of what `t` writes at the moment, for `Intl`. */
export const currentLocale = (): string => spoken.getStore()?.locale ?? SOURCE_LOCALE;

/**
 * Runs a task, and all that it begins, in a language. For the host, and for plugins' background work through `Languages`.
 * @param language `undefined` for English
 */
export function speaking<T>(language: Language | undefined, task: () => T): T {
  // Before Node 24 a storage in use costs a fifth of the processor time of everything: a bot that speaks English alone never begins.
  if (language === undefined && spoken.getStore() === undefined) return task();
  return spoken.run(language ?? ENGLISH, task);
}

const ENGLISH: Language = { locale: SOURCE_LOCALE, translate: (message) => message };

/** Sets how messages with plurals, selections, numbers and dates are written; the host does so once. */
export function formatMessagesWith(formatter: MessageFormatter): void {
  format = formatter;
}

/** Nothing but text and `{name}`; an apostrophe before a brace quotes it. */
const PLAIN = /^(?:[^{}']|'(?![{}'])|\{\w+\})*$/;

/** Plain messages, text and names by turns; `false` for those that need the formatter. The messages are those of the code and the catalogues. */
const known = new Map<string, readonly string[] | false>();
const MOST_KNOWN = 10_000;

/** Taken apart once: every command writes reasons why it may run. */
function plainParts(message: string): readonly string[] | false {
  let parts = known.get(message);
  if (parts === undefined) {
    parts = PLAIN.test(message) && partsOf(message);
    // Only a caller that has no catalogues, and passes texts as messages, can have so many.
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

/** In which language members and guilds are spoken to. Provided by the host. */
export interface Languages {
  /** Locales that there are catalogues for, English first. */
  readonly available: readonly string[];
  /** Runs a task, such as background work, in a member's language (or that of the guild, when no member is named). */
  speak<T>(audience: Audience, task: () => T | Promise<T>): Promise<T>;
  /**
   * Says what members and guilds have chosen. The plugin that keeps the choices calls it; the last call counts.
   * @returns takes it back
   */
  chooseBy(choice: LanguageChoice): () => void;
}

/**
 * The locale that an audience has chosen: the member's choice, else the one shown to them, else the guild's.
 * It is asked with every command: answer from memory where possible.
 * @param shown what the member's Discord is set to, where an interaction tells it
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

/** Yes or no as people type it, in English or German, whatever the language of the member; `undefined` for any other word. */
export function readYesNo(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  if (YES.includes(word)) return true;
  return NO.includes(word) ? false : undefined;
}

/**
 * For `parse`, so that a schema says in the current language what is wrong; in English where zod has no words of it. Words of the schema's author
 * come first, and go through `translated`.
 * @example z.safeParse(schema, value, issueLanguage())
 */
export function issueLanguage(): z.core.ParseContext<z.core.$ZodIssue> {
  const locale = currentLocale();
  if (locale === SOURCE_LOCALE) return {};
  const words = Object.entries(z.locales).find(([name]) => name === locale)?.[1];
  return words === undefined ? {} : { error: words().localeError };
}

/** zod's wording without its label: `expected number, received string`. */
export const plainIssue = (message: string): string => message.replace(LABEL, '');

/** In the languages that the host has catalogues for. */
const LABEL =
  /^(?:Invalid input|Too (?:big|small)|Invalid \w+|Ungültige Eingabe|Zu (?:groß|klein)|Ungültig(?:er? \w+)?): /;
