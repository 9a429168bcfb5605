import { createPageTexts } from '@cinnabar/sdk/page';
import de from './locales/de.json';

const texts = createPageTexts({ de });

export const { t } = texts;

/** What the server says, where it is a text of the page's own; Discord's refusals stay as Discord words them. */
export const translated: (sentence: string) => string = t;

export function speak(wanted: string): void {
  texts.speak(wanted);
  document.documentElement.lang = texts.spoken();
}
