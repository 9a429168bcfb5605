const DIMENSIONS = 512;
const GRAM = 3;

/**
 * A stand-in for an embedding model: random indexing of trigrams, deterministic for each text. Texts with common words are near, even if the words are
 * inflected or misspelt; unlike a model it does not represent meaning.
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
  // Frequent trigrams carry little information.
  return sums.map((sum) => Math.sign(sum) * Math.sqrt(Math.abs(sum)));
}

/** The hash function FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const unit of text) hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash;
}
