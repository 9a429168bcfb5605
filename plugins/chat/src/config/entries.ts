import { z } from '@cinnabar/sdk';
import { closestTo } from './closest.js';
import { LEAVES } from './leaves.js';

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

export interface Place {
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
