import { distance } from 'fastest-levenshtein';

/** No key is this long. */
const LONGEST = 60;

/** The name that was probably meant, whatever the case and the underscores; `undefined` when none is near. */
export function closestTo(typed: string, names: readonly string[]): string | undefined {
  if (typed.length > LONGEST) return undefined;
  const wanted = fold(typed);
  const [best] = names
    .map((name) => ({ name, away: distance(wanted, fold(name)) }))
    .sort((one, other) => one.away - other.away);
  return best !== undefined && best.away <= Math.max(1, Math.floor(best.name.length / 3)) ? best.name : undefined;
}

/** `recency_window` as other bots of this family write it. */
export function fold(key: string): string {
  return key.replaceAll(/[_-]/g, '').toLowerCase();
}
