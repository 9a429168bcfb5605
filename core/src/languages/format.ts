import { createRequire } from 'node:module';
import type { MessageFormatter } from '@cinnabar/sdk';
import type { IntlMessageFormat } from 'intl-messageformat';
import { LRUCache } from 'lru-cache';

type Module = typeof import('intl-messageformat');

/** Loaded with the first message that has a plural, a selection, a number or a date. */
let loaded: Module | undefined;

/** Parsed messages, by locale and text; the texts are those of the code and the catalogues, so few are ever left out. */
const parsed = new LRUCache<string, IntlMessageFormat>({ max: 500 });

/** Writes ICU messages with `Intl`. A message that cannot be written (a mistake in a catalogue) is shown as it is. */
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
  // Discord's mentions look like tags.
  const format = new loaded.IntlMessageFormat(message, locale, undefined, { ignoreTag: true });
  parsed.set(key, format);
  return format;
}
