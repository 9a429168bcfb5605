const MOST_DEPTH = 16;

/** JSON that is safe to keep and to give back: not too deep, no keys with a meaning of their own. `undefined` where it is too deep. */
export function plainJson(value: unknown, depth = 0): unknown {
  if (depth > MOST_DEPTH) return undefined;
  if (Array.isArray(value)) return value.map((item) => plainJson(item, depth + 1) ?? null);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== '__proto__');
  return Object.fromEntries(entries.map(([key, item]) => [key, plainJson(item, depth + 1)]));
}
