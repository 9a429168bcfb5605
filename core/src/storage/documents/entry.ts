import type { z } from '@cinnabar/sdk';
import type { DocumentPath, Stored } from '../driver.js';
import { type CachedDocument, type DocumentStore, isSmall, storedIn, untilUsable } from './document-store.js';
import { nameOf } from './paths.js';

/** One document, understood by its shape. */
export interface Entry<T> {
  /** A copy of the caller's own. */
  read(): Promise<T>;
  /**
   * Hands a draft to `body` and saves the data that it returns, `undefined` to delete. Resolves with what a later `read` gives.
   * When `body` throws, what it returned is not valid, or the write fails, nothing has changed.
   */
  change(body: (draft: T, stored: () => Stored | undefined) => Promise<unknown>): Promise<T>;
}

type OpenEntry<T> = (path: DocumentPath) => Entry<T>;

/** Entries of one shape. What the shape made of a small document is kept as long as the document stays as it is. */
export function createEntries<T>(store: DocumentStore, shape: Shape<T>): OpenEntry<T> {
  const views = new WeakMap<CachedDocument, { readonly value: T }>();
  /** What all documents are that are not stored. */
  let absent: { readonly value: T } | undefined;

  const keepView = (cached: CachedDocument, value: T) => {
    if (cached.json === undefined) absent = { value };
    else if (isSmall(cached)) views.set(cached, { value });
  };
  const copyOf = (cached: CachedDocument, path: DocumentPath): T => {
    const known = cached.json === undefined ? absent : views.get(cached);
    if (known !== undefined) return structuredClone(known.value);
    const value = shape.read(storedIn(cached), nameOf(path));
    keepView(cached, value);
    return structuredClone(value);
  };

  /** Inside the document's turn: what does not fit the schema is put aside until something does. */
  const usable = (path: DocumentPath): Promise<{ readonly cached: CachedDocument; readonly draft: T }> =>
    untilUsable(path, async () => {
      const cached = await store.load(path);
      try {
        return { cached, draft: copyOf(cached, path) };
      } catch (error) {
        if (!(error instanceof InvalidDocument) || cached.json === undefined) throw error;
        await store.reject(path, error.message);
        return undefined;
      }
    });

  const save = async (path: DocumentPath, before: CachedDocument, data: unknown): Promise<T> => {
    const stored = data === undefined ? undefined : { version: shape.version, data: asJson(data) };
    // Before it is saved: what the shape does not take is not written.
    const value = shape.read(stored, nameOf(path));
    const copy = structuredClone(value);
    const old = storedIn(before);
    if (before.json === (stored === undefined ? undefined : JSON.stringify(stored))) return copy;
    if (old !== undefined && stored !== undefined && old.version < stored.version) {
      await store.keep(path, `v${old.version}`);
    }
    keepView(await store.save(path, stored), value);
    return copy;
  };

  return (path) => ({
    async read() {
      const cached = store.peek(path) ?? (await store.load(path));
      try {
        return copyOf(cached, path);
      } catch (error) {
        if (!(error instanceof InvalidDocument)) throw error;
      }
      return store.exclusive(path, async () => (await usable(path)).draft);
    },
    change: (body) =>
      store.exclusive(path, async () => {
        const { cached, draft } = await usable(path);
        return save(path, cached, await body(draft, () => storedIn(cached)));
      }),
  });
}

/** What the disk will give back, so that memory never says anything else. */
function asJson(data: unknown): unknown {
  try {
    const text = JSON.stringify(data);
    return text === undefined ? undefined : JSON.parse(text);
  } catch (cause) {
    throw new InvalidDocument('it cannot be written as JSON', undefined, { cause });
  }
}

/**
 * How one kind of document is understood: `T` is what callers see, also when nothing is stored.
 * Pure, so that its result can be kept as long as what is stored stays the same.
 */
export interface Shape<T> {
  /** Given to what is saved. */
  readonly version: number;
  /** @throws InvalidDocument when what is stored is not valid, CINNABAR_DOCUMENT_NEWER when it may not be touched */
  read(stored: Stored | undefined, document: string): T;
}

/** What is stored can be read, but is not what its schema asks for. The message is a clause for people. */
export class InvalidDocument extends Error {
  /** The field that is wrong, when it is one. */
  readonly key: string | undefined;
  constructor(message: string, key?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'InvalidDocument';
    this.key = key;
  }
}

/** The first thing that a schema finds wrong, with its place: `members.0.name: expected string, received number`. */
export function invalid(cause: z.ZodError): InvalidDocument {
  const [issue] = cause.issues;
  if (issue === undefined) return new InvalidDocument('it does not fit its schema', undefined, { cause });
  const text = plainIssue(issue.message);
  const [key] = issue.path;
  if (key === undefined) return new InvalidDocument(text, undefined, { cause });
  return new InvalidDocument(`${issue.path.join('.')}: ${text}`, String(key), { cause });
}

/** zod's wording without its label: `expected number, received string`. */
export function plainIssue(message: string): string {
  return message.replace(/^(?:Invalid input|Too (?:big|small)|Invalid \w+): /, '');
}
