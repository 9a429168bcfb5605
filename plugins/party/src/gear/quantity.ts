const NUMBER = '(?<![\\p{L}\\p{N}.])(?<digits>\\d{1,6})';
const BEFORE = new RegExp(`${NUMBER}\\s?[x×]?\\s$`, 'u');
const LEADING = new RegExp(`^${NUMBER}\\s?[x×]?\\s`, 'u');
const TRAILING = /^(?:\s?[x×]\s?(?<digits>\d{1,6})|\s?\((?<bracketed>\d{1,6})\))(?![\p{L}\p{N}])/u;
const ENDING = /(?:[x×]\s?(?<digits>\d{1,6})|\((?<bracketed>\d{1,6})\))$/u;

/**
 * How many things a part of a description speaks of in digits: 2 for "2 SMGs", 3 for "Medkit x3"; `undefined` where there are none. What
 * words say ("a dozen") is for the model to read. The digits may be inside the part or right beside it.
 * @param text normalised: lower case, single spaces
 */
export function digitsAt(text: string, start: number, end: number): number | undefined {
  const part = text.slice(start, end);
  const found =
    LEADING.exec(part) ?? ENDING.exec(part) ?? BEFORE.exec(text.slice(0, start)) ?? TRAILING.exec(text.slice(end));
  const digits = found?.groups?.digits ?? found?.groups?.bracketed;
  return digits === undefined ? undefined : Math.max(1, Number(digits));
}
