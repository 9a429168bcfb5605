import type { Entries } from './entries.js';
import { LEAVES } from './leaves.js';
import { type BotConfig, botConfigSchema, complete } from './schema.js';

/** What holds when `narrow` is laid over `wide`. Associative; `new Map()` is neutral. */
export function merge(wide: Entries, narrow: Entries): Entries {
  return new Map([...wide, ...narrow]);
}

/** The value in force at a path. */
export function valueAt(entries: Entries, path: string): unknown {
  return entries.get(path)?.value ?? LEAVES.get(path)?.fallback;
}

/** All values as one configuration. */
export function build(entries: Entries): BotConfig {
  const values: Record<string, unknown> = {};
  for (const [path, { value }] of entries) if (value !== undefined) values[path] = value;
  return complete(botConfigSchema.parse(values));
}

/** Where the value of each path came from. */
export function originsOf(entries: Entries): Readonly<Record<string, string>> {
  return Object.fromEntries([...LEAVES.keys()].map((path) => [path, entries.get(path)?.origin ?? 'default']));
}
