const WORDS: ReadonlyMap<string, boolean> = new Map([
  ['yes', true],
  ['y', true],
  ['true', true],
  ['on', true],
  ['1', true],
  ['no', false],
  ['n', false],
  ['false', false],
  ['off', false],
  ['0', false],
]);

/** `undefined` when the word is neither a yes nor a no. */
export function parseBoolean(text: string): boolean | undefined {
  return WORDS.get(text.toLowerCase());
}
