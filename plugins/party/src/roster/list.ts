import type { Character } from './characters.js';
import { shown } from './names.js';

/** "None" for an empty list, as on the confirmation card. */
export function gearText(gear: readonly string[]): string {
  return gear.length === 0 ? 'None' : gear.map(shown).join(', ');
}

/** @param phrase whose party it is: "your party" */
export function partyList(members: readonly Character[], phrase: string): string {
  const whose = phrase.charAt(0).toUpperCase() + phrase.slice(1);
  if (members.length === 0) return `${whose} is empty. To add someone, say: Add V to my party, he's a Solo`;
  const lines = members.map(
    ({ name, role, gear }) => `• **${shown(name)}** – ${shown(role)} (Gear Preferences: ${gearText(gear)})`,
  );
  return [`👥 ${whose} (${members.length})`, ...lines].join('\n');
}
