import { matchesWildcard } from '@cinnabar/sdk';
import type { Entries, Entry, Reading } from './entries.js';
import type { KeyScope } from './keys/key.js';
import { LEAVES, type Leaf } from './leaves.js';
import { build, valueAt } from './merge.js';

/**
 * Takes out of a layer what whoever wrote it may not set.
 * @param below what holds without the layer
 * @param by an admin of the guild, or whoever may pin messages in the channel
 */
export function restrict(below: Entries, { entries, problems }: Reading, by: Exclude<KeyScope, 'files'>): Reading {
  const kept = new Map<string, Entry>();
  const more: string[] = [];
  for (const [path, entry] of entries) {
    const leaf = LEAVES.get(path);
    const refusal = leaf === undefined ? 'there is no such key' : refusalOf(leaf, entry.value, below, by);
    if (refusal === undefined) kept.set(path, entry);
    else more.push(`${entry.origin}: ${path}: ${refusal}`);
  }
  return { entries: kept, problems: [...problems, ...more] };
}

function refusalOf(
  { path, scope, lowerOnly }: Leaf,
  value: unknown,
  below: Entries,
  by: Exclude<KeyScope, 'files'>,
): string | undefined {
  if (scope === 'files') return 'can be set in the configuration files only';
  if (scope === 'guild' && by === 'channel') return 'can be set by admins only, with `!set chat`';
  const present = valueAt(below, path) ?? impliedAt(below, path);
  if (lowerOnly && rises(present, value)) return `may be lowered here, not raised above ${String(present)}`;
  if (path === 'continuationModel' && value !== present && !isAllowed(value, valueAt(below, 'allowedModels')))
    return `the model ${String(value)} is not one of allowedModels`;
  return undefined;
}

/** What a key that costs money comes to where it is not set. */
function impliedAt(below: Entries, path: string): number | undefined {
  const { recencyWindow, truncateToTokens } = build(below);
  if (path === 'rollingThreshold') return recencyWindow;
  return path === 'truncateToTokens' ? truncateToTokens : undefined;
}

function rises(present: unknown, value: unknown): boolean {
  if (typeof value === 'boolean') return value && present !== true;
  return typeof value !== 'number' || typeof present !== 'number' || value > present;
}

function isAllowed(model: unknown, allowed: unknown): boolean {
  if (typeof model !== 'string' || !Array.isArray(allowed)) return false;
  return allowed.some((pattern) => typeof pattern === 'string' && matchesWildcard(model, pattern));
}
