import { z } from '@cinnabar/sdk/worker';

/** Control and format characters that nobody sees, line feeds and tabs excepted. */
const HIDDEN = /(?![\n\t\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu;

/** What a model or a person wrote, fit to be kept: nothing invisible, no white space around it, not too long. */
export function tidy(text: string, most: number): string {
  return text.replaceAll('\r\n', '\n').replace(HIDDEN, '').trim().slice(0, most).trim();
}

/** A text that is not empty when it is tidy; longer ones are cut. */
export function tidyText(most: number) {
  return z
    .string()
    .transform((text) => tidy(text, most))
    .pipe(z.string().min(1));
}
