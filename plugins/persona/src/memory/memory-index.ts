import { BudgetExceededError, type Charge, type Clock, type Llm, type Logger } from '@cinnabar/sdk';
import type { MemoryFile, MemoryFiles } from './memory-files.js';
import type { Embed, Memory, Place } from './types.js';
import { People, wordsOf } from './words.js';

/** A change of an index, which is written completely or not at all. Deletions are applied first. */
export interface Change {
  readonly drop?: readonly string[] | undefined;
  /** New memories, and new versions of existing ones. */
  readonly put?: readonly Memory[] | undefined;
  /** Memories that a reflection has considered; `all`: every memory. */
  readonly reflected?: readonly string[] | 'all' | undefined;
  /** When memories were recalled. */
  readonly seen?: readonly (readonly [id: string, at: number])[] | undefined;
  /** Embeddings, each component from -127 to 127, in base64. */
  readonly vectors?: readonly (readonly [id: string, vector: string])[] | undefined;
}

export const isEmpty = ({ drop = [], put = [], reflected = [], seen = [], vectors = [] }: Change): boolean =>
  [drop, put, reflected, seen, vectors].every(({ length }) => length === 0);

/** Orders memories by time. A memory is only ever superseded by a later one, so that chains have no cycles. */
export function byTime(one: Memory, other: Memory): number {
  return one.at - other.at || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

export const isLater = (one: Memory, other: Memory): boolean => byTime(one, other) > 0;

/** Whether a memory is current: not superseded, not a duplicate, and not set aside. */
export const isActive = ({ supersededBy, duplicateOf, setAsideAt }: Memory): boolean =>
  supersededBy === null && duplicateOf === null && setAsideAt === null;

/** The words of a text, for finding memories with the same words. */
export const wordingOf = (text: string): string => wordsOf(text).join(' ');

type Listener = (before: Memory | undefined, after: Memory | undefined) => void;

/** The memories of one persona in one guild or direct message, with ways to find them. Only `apply` changes it. */
export class MemoryIndex {
  readonly people = new People();
  readonly #memories = new Map<string, Memory>();
  readonly #vectors = new Map<string, Int8Array>();
  readonly #pending = new Set<string>();
  /** Ids of memories by a common property, such as `subject 123`. */
  readonly #groups = new Map<string, Set<string>>();
  readonly #listeners: Listener[] = [];

  get size(): number {
    return this.#memories.size;
  }

  get(id: string): Memory | undefined {
    return this.#memories.get(id);
  }

  all(): Iterable<Memory> {
    return this.#memories.values();
  }

  /** Memories that were learned from the message, or depend on such a memory. */
  from = (messageId: string): readonly Memory[] => this.#group(`message ${messageId}`);
  about = (subject: string): readonly Memory[] => this.#group(`subject ${subject}`);
  /** A lower bound for the number of memories about or from a person; most are both. */
  countOf = (person: string): number =>
    Math.max(this.#groups.get(`subject ${person}`)?.size ?? 0, this.#groups.get(`speaker ${person}`)?.size ?? 0);
  /** Memories with the same words as the text. */
  worded = (text: string): readonly Memory[] => this.#group(`wording ${wordingOf(text)}`);
  supersededBy = (id: string): readonly Memory[] => this.#group(`superseded ${id}`);
  duplicatesOf = (id: string): readonly Memory[] => this.#group(`duplicate ${id}`);
  restingOn = (id: string): readonly Memory[] => this.#group(`evidence ${id}`);

  /** Facts that no reflection has considered, in the order in which they were added. */
  pending(): readonly Memory[] {
    return this.#of(this.#pending);
  }

  isPending(id: string): boolean {
    return this.#pending.has(id);
  }

  vector(id: string): Int8Array | undefined {
    return this.#vectors.get(id);
  }

  /** Calls the listener for each memory that is added, changed or deleted. */
  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  apply({ drop = [], put = [], reflected = [], seen = [], vectors = [] }: Change): void {
    for (const id of drop) this.#drop(id);
    for (const memory of put) this.#put(memory);
    if (reflected === 'all') this.#pending.clear();
    else for (const id of reflected) this.#pending.delete(id);
    for (const [id, at] of seen) this.#noteSeen(id, at);
    for (const [id, text] of vectors) if (this.#memories.has(id)) this.#vectors.set(id, decodeVector(text));
  }

  #put(memory: Memory): void {
    const before = this.#memories.get(memory.id);
    if (before === undefined && memory.kind === 'fact' && memory.duplicateOf === null) this.#pending.add(memory.id);
    if (before?.text !== memory.text) this.#vectors.delete(memory.id);
    this.#replace(memory.id, memory);
    this.people.addFrom(memory);
  }

  #drop(id: string): void {
    if (!this.#memories.has(id)) return;
    this.#replace(id, undefined);
    this.#vectors.delete(id);
    this.#pending.delete(id);
  }

  #replace(id: string, after: Memory | undefined): void {
    const before = this.#memories.get(id);
    if (before !== undefined) {
      for (const key of groupsOf(before)) {
        const group = this.#groups.get(key);
        if (group?.delete(id) === true && group.size === 0) this.#groups.delete(key);
      }
    }
    if (after === undefined) this.#memories.delete(id);
    else {
      this.#memories.set(id, after);
      for (const key of groupsOf(after)) this.#groups.set(key, (this.#groups.get(key) ?? new Set()).add(id));
    }
    for (const listen of this.#listeners) listen(before, after);
  }

  /** Keeps the groups as they are: none depends on the time of recall. */
  #noteSeen(id: string, at: number): void {
    const before = this.#memories.get(id);
    if (before === undefined) return;
    const after = { ...before, lastAccess: Math.max(before.lastAccess, at) };
    this.#memories.set(id, after);
    for (const listen of this.#listeners) listen(before, after);
  }

  #group(key: string): readonly Memory[] {
    return this.#of(this.#groups.get(key) ?? []);
  }

  #of(ids: Iterable<string>): readonly Memory[] {
    return [...ids].flatMap((id) => this.#memories.get(id) ?? []);
  }
}

function* groupsOf({
  text,
  subject,
  speaker,
  messageId,
  supersededBy,
  duplicateOf,
  evidence,
}: Memory): Generator<string> {
  yield `subject ${subject}`;
  yield `speaker ${speaker}`;
  yield `wording ${wordingOf(text)}`;
  if (messageId !== null) yield `message ${messageId}`;
  if (supersededBy !== null) yield `superseded ${supersededBy}`;
  if (duplicateOf !== null) yield `duplicate ${duplicateOf}`;
  for (const { id, messageId: source } of evidence) {
    yield `evidence ${id}`;
    if (source !== null) yield `message ${source}`;
  }
}

const FULL = 127;

/** A vector of length 1 with one byte per component; cosines stay right to about two digits, which is enough for ranking. */
export function encodeVector(vector: readonly number[]): string {
  const length = Math.hypot(...vector) || 1;
  return Buffer.from(Int8Array.from(vector, (value) => Math.round((value / length) * FULL)).buffer).toString('base64');
}

function decodeVector(text: string): Int8Array {
  const bytes = Buffer.from(text, 'base64');
  return Int8Array.from(bytes, (byte) => (byte > FULL ? byte - 256 : byte));
}

/** From -1 to 1; 0 for vectors of different lengths, which come from different models. */
export function cosine(one: Int8Array, other: Int8Array): number {
  if (one.length !== other.length) return 0;
  let dot = 0;
  let oneSquared = 0;
  let otherSquared = 0;
  for (let index = 0; index < one.length; index++) {
    const a = one[index] ?? 0;
    const b = other[index] ?? 0;
    dot += a * b;
    oneSquared += a * a;
    otherSquared += b * b;
  }
  return dot === 0 ? 0 : dot / Math.sqrt(oneSquared * otherSquared);
}

const BATCH = 64;
/** Pause after an error of the provider. */
const REST_MS = 60_000;

/** Makes embeddings if a provider supports them. Without one, and after an error, memories are found by words only. */
export function createEmbedding(
  embed: Embed | undefined,
  files: Pick<MemoryFiles, 'use'>,
  { clock, log }: { readonly clock: Pick<Clock, 'now'>; readonly log: Logger },
) {
  let restsUntil = Number.NEGATIVE_INFINITY;
  const running = new Map<MemoryFile, Promise<void>>();
  const stopping = new AbortController();

  const vectorsOf = async (texts: readonly string[], charge: Charge, signal: AbortSignal | undefined) => {
    if (embed === undefined || clock.now() < restsUntil) return undefined;
    try {
      const vectors = await embed(texts, charge, signal);
      return vectors?.length === texts.length ? vectors : undefined;
    } catch (error) {
      // An exhausted budget belongs to one guild, so it does not pause the provider.
      if (signal?.aborted === true || error instanceof BudgetExceededError) return undefined;
      restsUntil = clock.now() + REST_MS;
      log.warn('no embeddings were made; words alone decide', { error, texts: texts.length });
      return undefined;
    }
  };

  const fill = async (file: MemoryFile, charge: Charge) => {
    for (;;) {
      const lacking = [...file.index.all()]
        .filter((memory) => isActive(memory) && file.index.vector(memory.id) === undefined)
        .slice(-BATCH);
      if (lacking.length === 0) return;
      const vectors = await vectorsOf(
        lacking.map(({ text }) => text),
        charge,
        stopping.signal,
      );
      if (vectors === undefined || stopping.signal.aborted) return;
      await file.run(() => {
        // A memory that was deleted or edited meanwhile gets no vector.
        const current = lacking.flatMap((memory, index) => {
          const vector = vectors[index];
          return vector !== undefined && file.index.get(memory.id)?.text === memory.text
            ? [[memory.id, encodeVector(vector)] as const]
            : [];
        });
        return file.commit({ vectors: current });
      });
    }
  };

  return {
    /** The vector of a query; `undefined` when none is available. */
    async of(query: string, charge: Charge, signal: AbortSignal | undefined): Promise<Int8Array | undefined> {
      const [vector] = (await vectorsOf([query], charge, signal)) ?? [];
      return vector === undefined ? undefined : decodeVector(encodeVector(vector));
    },
    /** Makes missing vectors of the file's active memories, in the background. */
    follow(file: MemoryFile, place: Place, charge: Charge): void {
      if (embed === undefined || running.has(file) || stopping.signal.aborted) return;
      // `use` keeps the file open until this is done. If it were closed meanwhile and loaded again, two would write to the same journal.
      const work = files
        .use(place, (used) => fill(used, charge))
        .catch((error: unknown) => log.error('embeddings could not be stored', { error }))
        .finally(() => running.delete(file));
      running.set(file, work);
    },
    /** Aborts running requests; resolves when none is running. */
    async idle(): Promise<void> {
      stopping.abort();
      await Promise.all(running.values());
    },
  };
}

/** Embeddings from the host's language models; `undefined` where none for embeddings is configured. */
export function embedWith(llm: Pick<Llm, 'embed'>): Embed {
  return async (texts, charge, signal) => {
    const embeddings = await llm.embed(texts, { charge, ...(signal === undefined ? {} : { signal }) });
    return embeddings?.vectors.map((vector) => [...vector]);
  };
}
