import { z } from 'zod';
import { currentLocale, SOURCE_LOCALE } from './language.js';

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
