/** Shared by pages in a browser; it imports nothing that a browser does not have. */

/** Translations by English text, with `{name}` for values. */
type PageCatalogue = Readonly<Record<string, string>>;

interface PageTexts {
  /** Sets the language; English when there is no catalogue for it. @param locale as a browser names it: `de-AT` */
  speak(locale: string): void;
  /** The locale that was set, for `Intl`: `de`. */
  locale(): string;
  /** The language of the texts: that of a catalogue, or `en`. */
  spoken(): string;
  /** The text in that language. */
  t(text: string, values?: Readonly<Record<string, string | number>>): string;
}

/**
 * The texts of a page, in English until `speak` is called.
 * @param catalogues by language
 * @example
 * const { speak, t } = createPageTexts({ de: { 'Sign out {name}': '{name} abmelden' } });
 * speak(navigator.language);
 * t('Sign out {name}', { name: 'V' });
 */
export function createPageTexts(catalogues: Readonly<Record<string, PageCatalogue>>): PageTexts {
  let language = 'en';
  let catalogue: PageCatalogue = {};
  return {
    speak(locale) {
      language = locale.split('-', 1)[0] ?? locale;
      catalogue = catalogues[language] ?? {};
    },
    locale: () => language,
    spoken: () => (Object.hasOwn(catalogues, language) ? language : 'en'),
    t: (text, values = {}) =>
      (catalogue[text] ?? text).replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)),
  };
}
