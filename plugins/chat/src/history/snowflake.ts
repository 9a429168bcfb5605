/** Older than every message. */
export const OLDEST = '0';

/** Negative when `a` is older. Ids are decimal numbers without leading zeros, so length decides first. */
export function compareIds(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export function newerId(a: string, b: string): string {
  return compareIds(a, b) >= 0 ? a : b;
}

export function olderId(a: string, b: string): string {
  return compareIds(a, b) <= 0 ? a : b;
}

/** The next id upwards, whether or not there is such a message. */
export function idAfter(id: string): string {
  return String(BigInt(id) + 1n);
}

export function idBefore(id: string): string {
  return id === OLDEST ? OLDEST : String(BigInt(id) - 1n);
}
