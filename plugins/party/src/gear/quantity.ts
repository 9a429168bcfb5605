const NUMBER_WORDS = ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];
const QUANTITY = `(?<![\\p{L}\\p{N}.])(?:(?<digits>\\d{1,6})|(?<word>${NUMBER_WORDS.join('|')})|(?<pair>(?:a )?(?:pair|couple) of))`;
const BEFORE = new RegExp(`${QUANTITY}\\s?[x×]?\\s$`, 'u');
const LEADING = new RegExp(`^${QUANTITY}\\s?[x×]?\\s`, 'u');
const TRAILING = /^(?:\s?[x×]\s?(?<digits>\d{1,6})|\s?\((?<bracketed>\d{1,6})\))(?![\p{L}\p{N}])/u;
const ENDING = /(?:[x×]\s?(?<digits>\d{1,6})|\((?<bracketed>\d{1,6})\))$/u;

/**
 * How many things a part of a description speaks of: 2 for "2 SMGs" and "a pair of boots", 3 for "Medkit x3"; 1 when no number is there.
 * The number may be inside the part or right beside it.
 * @param text normalised: lower case, single spaces
 */
export function quantityAt(text: string, start: number, end: number): number {
  const part = text.slice(start, end);
  const found =
    LEADING.exec(part) ?? ENDING.exec(part) ?? BEFORE.exec(text.slice(0, start)) ?? TRAILING.exec(text.slice(end));
  const groups = found?.groups ?? {};
  if (groups.pair !== undefined) return 2;
  if (groups.word !== undefined) return NUMBER_WORDS.indexOf(groups.word) + 2;
  return Math.max(1, Number(groups.digits ?? groups.bracketed ?? 1));
}
