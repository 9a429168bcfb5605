import { z } from '@cinnabar/sdk';
import { distance } from 'fastest-levenshtein';
import { type BotConfig, botConfigSchema, complete, LEAVES } from './schema.js';

/** A value and where it came from. `undefined` takes a key back to its default. */
export interface Entry {
  readonly value: unknown;
  readonly origin: string;
}
/** Values by path. */
export type Entries = ReadonlyMap<string, Entry>;

export interface Reading {
  readonly entries: Entries;
  readonly problems: readonly string[];
}

interface Place {
  /** Where a key stands, for people. */
  originOf(path: readonly string[]): string;
  /** The owner's own files: other plugins' keys stand there too, and an empty key takes back what wider files say. */
  readonly file: boolean;
}

const LONGEST_SHOWN = 60;

/** Checks values key by key. What cannot be used is left out with a problem. */
export function readEntries(values: Readonly<Record<string, unknown>>, place: Place): Reading {
  const entries = new Map<string, Entry>();
  const problems: string[] = [];

  for (const [path, value] of Object.entries(values)) {
    const origin = place.originOf([path]);
    const verdict = judge(path, value, place);
    if (verdict.kind === 'value') entries.set(path, { value: verdict.value, origin });
    else if (verdict.kind === 'wrong') problems.push(`${origin}: ${clip(path)}: ${verdict.reason}`);
  }
  return { entries, problems };
}

type Verdict =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'wrong'; readonly reason: string }
  | { readonly kind: 'nothing' };

function judge(path: string, value: unknown, { file }: Place): Verdict {
  const leaf = LEAVES.get(path);
  if (leaf === undefined) {
    // Another plugin's: the host tells when it is nobody's.
    if (file) return { kind: 'nothing' };
    return { kind: 'wrong', reason: `there is no such key.${hint(path)}` };
  }
  if (value === null) return file ? { kind: 'value', value: undefined } : { kind: 'wrong', reason: 'has no value' };
  const parsed = z.safeParse(leaf.schema, value);
  if (parsed.success) return { kind: 'value', value: parsed.data };
  return { kind: 'wrong', reason: parsed.error.issues[0]?.message ?? 'not valid' };
}

function hint(path: string): string {
  const meant = closestTo(path, [...LEAVES.keys()]);
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}

/** Whoever may pin messages may invent keys of any length. */
function clip(path: string): string {
  return path.length > LONGEST_SHOWN ? `${path.slice(0, LONGEST_SHOWN)}…` : path;
}

/** No key is this long. */
const LONGEST = 60;

/** The name that was probably meant, whatever the case and the underscores; `undefined` when none is near. */
function closestTo(typed: string, names: readonly string[]): string | undefined {
  if (typed.length > LONGEST) return undefined;
  const wanted = fold(typed);
  const [best] = names
    .map((name) => ({ name, away: distance(wanted, fold(name)) }))
    .sort((one, other) => one.away - other.away);
  return best !== undefined && best.away <= Math.max(1, Math.floor(best.name.length / 3)) ? best.name : undefined;
}

/** `recency_window` as other bots of this family write it. */
export function fold(key: string): string {
  return key.replaceAll(/[_-]/g, '').toLowerCase();
}

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
