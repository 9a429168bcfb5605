import { plainText, visible } from '@cinnabar/sdk';
import { distance } from 'fastest-levenshtein';

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Two names with one key are one character: case, width, accents' encoding, spacing and invisible characters do not tell them apart. */
export function nameKey(name: string): string {
  return name.normalize('NFKC').replace(INVISIBLE, '').replace(/\s+/gu, ' ').trim().toUpperCase().toLowerCase();
}

/** The closest of `names` to a mistyped one; `undefined` when none is close. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const key = nameKey(name);
  const allowed = Math.round(key.length * 0.4);
  const ranked = names
    .map((candidate) => ({ candidate, away: distance(key, nameKey(candidate)) }))
    .sort((a, b) => a.away - b.away);
  const best = ranked[0];
  return best !== undefined && best.away <= allowed ? best.candidate : undefined;
}

/** A typed text inside a message: nothing hidden, nothing taken for markup. */
export function shown(text: string): string {
  return plainText(visible(text));
}
