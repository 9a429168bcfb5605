import { createDirectory, type Directory } from '../text/names.js';
import { type Gist, gistOf } from '../text/similar.js';
import type { Memory } from '../types.js';
import type { Change } from './change.js';
import { createGroups } from './groups.js';
import { decodeVector } from './vector.js';

/** What one mind remembers in one guild or direct message, and ways to find it. Changed by `apply` alone. */
export interface Table {
  readonly size: number;
  get(id: string): Memory | undefined;
  all(): Iterable<Memory>;
  /** Learned from the message, or resting on what was. */
  from(messageId: string): readonly Memory[];
  about(subject: string): readonly Memory[];
  onAttribute(subject: string, attribute: string): readonly Memory[];
  supersededBy(id: string): readonly Memory[];
  duplicatesOf(id: string): readonly Memory[];
  restingOn(id: string): readonly Memory[];
  /** Facts that no reflection has looked at, in the order in which they came. */
  pending(): readonly Memory[];
  isPending(id: string): boolean;
  gist(memory: Memory): Gist;
  vector(id: string): Int8Array | undefined;
  readonly names: Directory;
  forgetNames(userId: string): void;
  apply(change: Change): void;
  /** Called with each memory that came, changed or went. */
  onChange(listener: (before: Memory | undefined, after: Memory | undefined) => void): void;
}

export function createTable(): Table {
  const records = new Map<string, Memory>();
  const gists = new Map<string, Gist>();
  const vectors = new Map<string, Int8Array>();
  const pending = new Set<string>();
  const names = createDirectory();
  const groups = createGroups();
  const listeners: ((before: Memory | undefined, after: Memory | undefined) => void)[] = [];
  const of = (ids: Iterable<string>) => [...ids].flatMap((id) => records.get(id) ?? []);

  const replace = (id: string, after: Memory | undefined) => {
    const before = records.get(id);
    if (before !== undefined) groups.remove(before);
    if (after !== undefined) groups.add(after);
    if (after === undefined) records.delete(id);
    else records.set(id, after);
    for (const listen of listeners) listen(before, after);
  };

  const drop = (id: string) => {
    if (!records.has(id)) return;
    replace(id, undefined);
    for (const kept of [gists, vectors, pending]) kept.delete(id);
  };

  const put = (memory: Memory) => {
    const before = records.get(memory.id);
    if (before === undefined && memory.kind === 'fact' && memory.duplicateOf === null) pending.add(memory.id);
    if (before?.text !== memory.text) {
      gists.delete(memory.id);
      vectors.delete(memory.id);
    }
    replace(memory.id, memory);
    for (const [userId, name] of [
      [memory.subject, memory.subjectName],
      [memory.speaker, memory.speakerName],
    ] as const) {
      if (name !== null) names.add({ userId, names: [name] });
    }
  };

  /** No index knows when a memory was recalled: it is replaced where it lies. */
  const noteSeen = (id: string, at: number) => {
    const memory = records.get(id);
    if (memory !== undefined) records.set(id, { ...memory, lastAccess: Math.max(memory.lastAccess, at) });
  };

  return {
    get size() {
      return records.size;
    },
    names,
    forgetNames: names.remove,
    get: (id) => records.get(id),
    all: () => records.values(),
    from: (messageId) => of(groups.from(messageId)),
    about: (subject) => of(groups.about(subject)),
    onAttribute: (subject, attribute) => of(groups.onAttribute(subject, attribute)),
    supersededBy: (id) => of(groups.supersededBy(id)),
    duplicatesOf: (id) => of(groups.duplicatesOf(id)),
    restingOn: (id) => of(groups.restingOn(id)),
    pending: () => of(pending),
    isPending: (id) => pending.has(id),
    gist(memory) {
      const known = gists.get(memory.id) ?? gistOf(memory.text);
      if (records.has(memory.id)) gists.set(memory.id, known);
      return known;
    },
    vector: (id) => vectors.get(id),
    apply({ drop: dropped = [], put: came = [], reflected = [], seen = [], vectors: made = [] }) {
      for (const id of dropped) drop(id);
      for (const memory of came) put(memory);
      if (reflected === 'all') pending.clear();
      else for (const id of reflected) pending.delete(id);
      for (const [id, at] of seen) noteSeen(id, at);
      for (const [id, text] of made) if (records.has(id)) vectors.set(id, decodeVector(text));
    },
    onChange: (listener) => void listeners.push(listener),
  };
}
