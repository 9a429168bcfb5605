const SPACE = /\s/;

/** Whether there is white space (a line break too) at the index; past the end there is none. */
export function isSpaceAt(source: string, index: number): boolean {
  const code = source.charCodeAt(index);
  // Nearly every character is decided without the pattern.
  if (code === 32 || (code >= 9 && code <= 13)) return true;
  return code > 127 && SPACE.test(source.charAt(index));
}

/** The first index from `from` on that is not white space. */
export function skipSpace(source: string, from: number): number {
  let at = from;
  while (isSpaceAt(source, at)) at++;
  return at;
}

/** The first index from `from` on that is white space, or the end. */
export function skipWord(source: string, from: number): number {
  let at = from;
  while (at < source.length && !isSpaceAt(source, at)) at++;
  return at;
}
