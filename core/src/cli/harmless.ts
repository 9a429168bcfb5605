import { visible } from '@cinnabar/sdk';

/** Text from others must not control the terminal or reverse a line: control characters are shown as text, and a line stays one line. */
export function harmless(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069]/gu, visible);
}
