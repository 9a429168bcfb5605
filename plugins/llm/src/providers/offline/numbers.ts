const WORDS = new Map(
  'zero one two three four five six seven eight nine ten eleven twelve'.split(' ').map((word, value) => [word, value]),
);
const DIGITS = /^[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/;

/** The number that a word says, in digits or up to twelve in letters. */
export function readNumber(word: string): number | undefined {
  const text = word.trim().toLowerCase();
  if (DIGITS.test(text)) return Number.parseFloat(text.replaceAll(',', ''));
  return WORDS.get(text);
}

export function isNumber(word: string): boolean {
  return readNumber(word) !== undefined;
}
