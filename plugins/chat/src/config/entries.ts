import { z } from '@cinnabar/sdk';
import { closestTo } from './closest.js';
import { GROUPS, LEAVES } from './leaves.js';

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

/** Checks values key by key. What cannot be used is left out with a problem; a limit of money that cannot be read is taken as 0. */
export function readEntries(values: Readonly<Record<string, unknown>>, place: Place): Reading {
  const entries = new Map<string, Entry>();
  const problems: string[] = [];

  const reject = (path: string, origin: string, reason: string) => {
    const limits = place.file ? limitsConcerned(path) : [];
    for (const limit of limits) entries.set(limit, { value: 0, origin });
    const consequence = limits.length === 0 ? '' : ' Until it is put right, nothing may be spent.';
    problems.push(`${origin}: ${clip(path)}: ${reason}${consequence}`);
  };

  const read = (group: Readonly<Record<string, unknown>>, above: readonly string[]) => {
    for (const [name, value] of Object.entries(group)) {
      const parts = [...above, name];
      const path = parts.join('.');
      const origin = place.originOf(parts);
      const verdict = judge(path, value, place);
      if (verdict.kind === 'group') read(verdict.group, parts);
      else if (verdict.kind === 'value') entries.set(path, { value: verdict.value, origin });
      else if (verdict.kind === 'wrong') reject(path, origin, verdict.reason);
    }
  };
  read(values, []);
  return { entries, problems };
}

type Verdict =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'group'; readonly group: Readonly<Record<string, unknown>> }
  | { readonly kind: 'wrong'; readonly reason: string }
  | { readonly kind: 'nothing' };

function judge(path: string, value: unknown, { file }: Place): Verdict {
  const leaf = LEAVES.get(path);
  if (GROUPS.has(path)) return judgeGroup(value);
  if (leaf === undefined) {
    // Another plugin's: the host tells when it is nobody's.
    if (file && !path.includes('.')) return { kind: 'nothing' };
    return { kind: 'wrong', reason: `there is no such key.${hint(path)}` };
  }
  if (value === null) return file ? { kind: 'value', value: undefined } : { kind: 'wrong', reason: 'has no value' };
  const parsed = z.safeParse(leaf.schema, value);
  if (parsed.success) return { kind: 'value', value: parsed.data };
  return { kind: 'wrong', reason: parsed.error.issues[0]?.message ?? 'not valid' };
}

function judgeGroup(value: unknown): Verdict {
  if (value === null) return { kind: 'nothing' };
  return isRecord(value) ? { kind: 'group', group: value } : { kind: 'wrong', reason: 'must be keys with values' };
}

/** The limits of money that a mistake at a path may have meant. */
function limitsConcerned(path: string): readonly string[] {
  if (!path.startsWith('budgets')) return [];
  const group = LEAVES.has(path) || GROUPS.has(path) ? path : path.slice(0, path.lastIndexOf('.'));
  return [...LEAVES.keys()].filter((limit) => limit === group || limit.startsWith(`${group}.`));
}

function hint(path: string): string {
  const meant = closestTo(path, [...LEAVES.keys()]);
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}

/** Whoever may pin messages may invent keys of any length. */
function clip(path: string): string {
  return path.length > LONGEST_SHOWN ? `${path.slice(0, LONGEST_SHOWN)}…` : path;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
