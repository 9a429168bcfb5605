import { CinnabarError } from '@cinnabar/sdk';

/** What every provider takes as a function name. */
const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

/** @throws CINNABAR_NAME_INVALID */
export function checkToolName(name: string): void {
  if (TOOL_NAME.test(name)) return;
  const detail = 'letters, digits and _, starting with a letter, at most 64';
  throw new CinnabarError('CINNABAR_NAME_INVALID', { kind: 'tool', name, detail });
}

/** `gear_preferences` and `lootDescription` as labels: "Gear Preferences", "Loot Description". */
export function labelOf(name: string): string {
  return words(name)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');
}

/** `add_party_character` as words: "add party character". */
export function words(name: string): readonly string[] {
  return name
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ')
    .split(/[\s_-]+/)
    .filter((word) => word !== '');
}
