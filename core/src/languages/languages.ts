import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import {
  type Audience,
  formatMessagesWith,
  type Language,
  type LanguageChoice,
  type Languages,
  type Logger,
  type MessageFormatter,
  SOURCE_LOCALE,
  speaking,
} from '@cinnabar/sdk';
import { type BaseInteraction, Locale } from 'discord.js';
import type { IntlMessageFormat } from 'intl-messageformat';
import { LRUCache } from 'lru-cache';

/** The languages, with what only the host's services use. */
export interface LanguageService extends Languages {
  /** The catalogue for a Discord locale (`de`, `en-US`); `undefined` for English, and for languages without one. */
  find(locale: string): Language | undefined;
  /**
   * Runs a task in the language of an audience; synchronously when it is known.
   * @param shown the locale of the member's Discord client, when an interaction contains it; a language that the member has chosen takes precedence
   */
  serve<T>(audience: Audience, shown: string | undefined, task: () => T | Promise<T>): T | Promise<T>;
  /** Runs a task in the language of the member of an interaction. */
  serveInteraction<T>(interaction: InteractionAudience, task: () => T | Promise<T>): T | Promise<T>;
  /** The languages other than English, each with the Discord locales that it serves. */
  forDiscord(): Localizations;
  /** Digest of all results of `forDiscord`. It does not parse the catalogues, so they take no memory until another language is used. */
  digestForDiscord(): string;
  /** Discards the catalogues: plugins were added, removed or changed. */
  reread(): void;
}

type InteractionAudience = Pick<BaseInteraction, 'guildId' | 'user' | 'locale'>;

/** Languages by Discord's locale. */
export type Localizations = readonly (readonly [locale: Locale, language: Language])[];

interface LanguageServices {
  /** Folders that may have a `locales/<language>.json`: the host's and those of the known plugins. */
  readonly folders: () => readonly string[];
  readonly log: Logger;
  /** The language when none was chosen; English when it is left out. */
  readonly byDefault?: Language | undefined;
}

/** Builds the languages from the catalogues beside the code. A language's catalogues are read at the first use. */
export function createLanguages({ folders, log, byDefault }: LanguageServices): LanguageService {
  formatMessagesWith(formatIcuMessage);
  const languages = new Map<string, Language | undefined>();
  let available: readonly string[] | undefined;
  let digest: string | undefined;
  let choose: LanguageChoice | undefined;

  const locales = () => {
    available ??= [...new Set([SOURCE_LOCALE, ...folders().flatMap(localesIn)])];
    return available;
  };
  const find = (locale: string): Language | undefined => {
    // Discord's locales include a country where it matters: `en-GB`, `pt-BR`.
    const wanted = locales().includes(locale) ? locale : locale.split('-', 1).join();
    if (wanted === SOURCE_LOCALE || !locales().includes(wanted)) return undefined;
    const known = languages.get(wanted);
    if (known !== undefined) return known;
    // The host's own texts take precedence: no plugin can change the text of a card or a refusal.
    const catalogues = folders().flatMap((folder) => catalogueOf(folder, wanted, log) ?? []);
    const language: Language = {
      locale: wanted,
      translate: (message) => catalogues.find((catalogue) => catalogue.has(message))?.get(message),
    };
    languages.set(wanted, language);
    return language;
  };
  const chosenBy = (audience: Audience, shown: string | undefined) => {
    const failed = (error: unknown) => {
      log.warn('it could not be found out which language is wanted', { ...audience, error });
      return shown;
    };
    try {
      const chosen = choose?.(audience, shown) ?? shown;
      return chosen instanceof Promise ? chosen.catch(failed) : chosen;
    } catch (error) {
      return failed(error);
    }
  };
  const serve: LanguageService['serve'] = (audience, shown, task) => {
    const speak = (locale: string | undefined) =>
      speaking((locale === undefined ? undefined : find(locale)) ?? byDefault, task);
    const chosen = chosenBy(audience, shown);
    return chosen instanceof Promise ? chosen.then(speak) : speak(chosen);
  };

  return {
    get available() {
      return locales();
    },
    find,
    forDiscord: () =>
      Object.values(Locale).flatMap((locale) => {
        const language = find(locale);
        return language === undefined ? [] : [[locale, language] as const];
      }),
    digestForDiscord() {
      if (digest !== undefined) return digest;
      const hash = createHash('sha256');
      const wanted = locales().filter((locale) => locale !== SOURCE_LOCALE);
      for (const locale of wanted) {
        hash.update(`${locale} `);
        for (const folder of folders()) hash.update(digestOfCatalogue(folder, locale));
      }
      digest = hash.digest('base64url');
      return digest;
    },
    serve,
    serveInteraction: ({ guildId, user, locale }, task) => serve({ guildId, userId: user.id }, locale, task),
    speak: async (audience, task) => serve(audience, undefined, task),
    chooseBy(choice) {
      choose = choice;
      return () => {
        if (choose === choice) choose = undefined;
      };
    },
    reread() {
      available = undefined;
      digest = undefined;
      languages.clear();
    },
  };
}

const CATALOGUE = /^([a-z]{2,3}(?:-[A-Z]{2})?)\.json$/;

function localesIn(folder: string): readonly string[] {
  try {
    return readdirSync(join(folder, 'locales')).flatMap((name) => CATALOGUE.exec(name)?.[1] ?? []);
  } catch {
    // Most third-party plugins have none.
    return [];
  }
}

type Catalogue = ReadonlyMap<string, string>;

/** Catalogues that were read already, by file. The hosts of one process share them. */
const read = new Map<string, { readonly modifiedMs: number; readonly digest: string; readonly catalogue: Catalogue }>();

const fileOf = (folder: string, locale: string) => join(folder, 'locales', `${locale}.json`);
const modifiedAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs;

/** A folder's translations; `undefined` when it has none in that language, which is common. */
function catalogueOf(folder: string, locale: string, log: Logger): Catalogue | undefined {
  const file = fileOf(folder, locale);
  try {
    const modifiedMs = modifiedAt(file);
    if (modifiedMs === undefined) return undefined;
    const before = read.get(file);
    if (before?.modifiedMs === modifiedMs) return before.catalogue;
    const content = readFileSync(file);
    const catalogue = parseCatalogue(content.toString());
    read.set(file, { modifiedMs, digest: sha256(content), catalogue });
    return catalogue;
  } catch (error) {
    log.warn('a catalogue of translations cannot be read: its texts stay English', { file, error });
    return undefined;
  }
}

/** Digest of the content in use, which may be older than the file; '' when there is none. */
function digestOfCatalogue(folder: string, locale: string): string {
  const file = fileOf(folder, locale);
  try {
    const modifiedMs = modifiedAt(file);
    if (modifiedMs === undefined) return '';
    const before = read.get(file);
    return before?.modifiedMs === modifiedMs ? before.digest : sha256(readFileSync(file));
  } catch {
    // `catalogueOf` reports a catalogue that cannot be read, and its texts stay English.
    return '';
  }
}

const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('base64url');

/** Checked by hand, because a schema takes three times as long for thousands of texts. */
function parseCatalogue(text: string): Catalogue {
  const texts: unknown = JSON.parse(text);
  if (typeof texts !== 'object' || texts === null) throw new Error('it is no object');
  const catalogue = new Map<string, string>();
  for (const [message, translation] of Object.entries(texts)) {
    if (typeof translation !== 'string') throw new Error(`the translation of "${message}" is no text`);
    catalogue.set(message, translation);
  }
  return catalogue;
}

type Module = typeof import('intl-messageformat');

/** Loaded with the first message that has a plural, a selection, a number or a date. */
let loaded: Module | undefined;

/** Parsed messages by locale and text; all texts come from the code and the catalogues, so the limit is hardly reached. */
const parsed = new LRUCache<string, IntlMessageFormat>({ max: 500 });

/** Formats ICU messages with `Intl`. A message that cannot be formatted (a mistake in a catalogue) is shown unformatted. */
export const formatIcuMessage: MessageFormatter = (locale, message, values) => {
  try {
    return String(parse(locale, message).format(values));
  } catch {
    return message;
  }
};

function parse(locale: string, message: string): IntlMessageFormat {
  const key = `${locale} ${message}`;
  const known = parsed.get(key);
  if (known !== undefined) return known;
  loaded ??= createRequire(import.meta.url)('intl-messageformat') as Module;
  // Discord's mentions look like ICU tags.
  const format = new loaded.IntlMessageFormat(message, locale, undefined, { ignoreTag: true });
  parsed.set(key, format);
  return format;
}
