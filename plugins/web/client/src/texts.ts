import { createPageTexts } from '@cinnabar/sdk/page';
import de from './locales/de.json';

/** The client's own texts; those of pages come from the server in the person's language. */
const texts = createPageTexts({ de });

export const { locale, t } = texts;

export function speak(wanted: string): void {
  texts.speak(wanted);
  document.documentElement.lang = wanted;
}
