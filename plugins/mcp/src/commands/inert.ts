import { plainText, visible } from '@cinnabar/sdk';

/** Text of a server, shown as it is and nothing else. */
export function inert(text: string): string {
  return plainText(visible(text));
}
