import { visible } from '@cinnabar/sdk';

/** Text of others must not steer the terminal, or turn a line around: control characters are shown, lines stay lines. */
export function harmless(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069]/gu, visible);
}
