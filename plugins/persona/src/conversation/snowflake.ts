/** Orders ids by age: below 0 when `a` is the older one. A longer number is a later one. */
export function compareIds(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : Number(a > b);
}
