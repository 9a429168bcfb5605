import { createPageTexts } from '@cinnabar/sdk/page';
import de from './locales/de.json';

const texts = createPageTexts({ de });

export const { t } = texts;

/** Translates the server's own texts; Discord's errors keep Discord's wording. */
export const translated: (sentence: string) => string = t;

export function speak(wanted: string): void {
  texts.speak(wanted);
  document.documentElement.lang = texts.spoken();
}
