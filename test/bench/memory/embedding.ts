const DIMENSIONS = 512;
const GRAM = 3;

/**
 * Stands in for an embedding model: random indexing of groups of three letters, the same for the same text. Texts with inflected or misspelt words
 * in common are near; it knows nothing of meaning, as a model would.
 */
export const trigramVectors = async (texts: readonly string[]): Promise<readonly (readonly number[])[]> =>
  texts.map(vectorOf);

function vectorOf(text: string): readonly number[] {
  const sums = Array.from({ length: DIMENSIONS }, () => 0);
  const line = ` ${text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, ' ')} `;
  for (let at = 0; at + GRAM <= line.length; at++) {
    const hash = hashOf(line.slice(at, at + GRAM));
    const place = (hash >>> 1) % DIMENSIONS;
    sums[place] = (sums[place] ?? 0) + (hash % 2 === 0 ? 1 : -1);
  }
  // Groups that come often say little.
  return sums.map((sum) => Math.sign(sum) * Math.sqrt(Math.abs(sum)));
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const unit of text) hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash;
}
