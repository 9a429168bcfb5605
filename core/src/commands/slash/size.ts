import type { CommandPayload } from './payload.js';

/** What Discord counts towards the limit of one command: names, descriptions and choice values, all the way down. */
export function sizeOf(payload: CommandPayload): number {
  return countIn(payload);
}

const COUNTED: ReadonlySet<string> = new Set(['name', 'description', 'value']);

function countIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countIn(item), 0);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [key, item]) => sum + (COUNTED.has(key) && typeof item === 'string' ? item.length : countIn(item)),
    0,
  );
}
