const FULL = 127;

/** A vector of length 1 in a quarter of the room; cosines stay right to about two digits, which is what ranking needs. */
export function encodeVector(vector: readonly number[]): string {
  const length = Math.hypot(...vector) || 1;
  return Buffer.from(Int8Array.from(vector, (value) => Math.round((value / length) * FULL)).buffer).toString('base64');
}

export function decodeVector(text: string): Int8Array {
  const bytes = Buffer.from(text, 'base64');
  return Int8Array.from(bytes, (byte) => (byte > FULL ? byte - 256 : byte));
}

/** From -1 to 1; 0 for vectors of different lengths, which different models made. */
export function cosine(one: Int8Array, other: Int8Array): number {
  if (one.length !== other.length) return 0;
  let dot = 0;
  let oneSquared = 0;
  let otherSquared = 0;
  for (let index = 0; index < one.length; index++) {
    const a = one[index] ?? 0;
    const b = other[index] ?? 0;
    dot += a * b;
    oneSquared += a * a;
    otherSquared += b * b;
  }
  return dot === 0 ? 0 : dot / Math.sqrt(oneSquared * otherSquared);
}
