import { t } from '@cinnabar/sdk';
import { distance } from 'fastest-levenshtein';

/** The most similar one of `known`, if the difference can be a typing mistake; otherwise `undefined`. */
export function nearest(typed: string, known: readonly string[]): string | undefined {
  const wanted = typed.toLowerCase();
  const ranked = known
    .map((name) => ({ name, away: distance(wanted, name.toLowerCase()) }))
    .sort((one, other) => one.away - other.away);
  const [best] = ranked;
  return best !== undefined && best.away <= Math.max(1, Math.floor(best.name.length / 3)) ? best.name : undefined;
}

/** The `{hint}` of an error about an unknown name: a sentence with a blank before it, or nothing. */
export function didYouMean(typed: string, known: readonly string[]): string {
  const meant = nearest(typed, known);
  return meant === undefined ? '' : ` ${t('Did you mean "{meant}"?', { meant })}`;
}
