import { plainText, visible } from '@cinnabar/sdk';

/** Somebody's or a model's text on one line, none of it taken for markup. */
export function shown(text: string, most = 300): string {
  const cut = text.length <= most ? text : `${text.slice(0, most)}…`;
  return plainText(visible(cut));
}

/** `**Goals**` with a line for each, or nothing when there are none. */
export function listed(title: string, texts: readonly string[]): readonly string[] {
  return texts.length === 0 ? [] : [`**${title}**`, ...texts.map((text, index) => `${index + 1}. ${shown(text)}`)];
}
