import type { DocumentPath, Stored } from '../driver.js';
import { nameOf } from './path-names.js';
import { InvalidDocument, type Shape } from './shape.js';
import { type Entry, isSmall, storedIn, untilUsable, type Vault } from './vault.js';

/** One document, understood by its shape. */
export interface Slot<T> {
  /** A copy of the caller's own. */
  read(): Promise<T>;
  /**
   * Hands a draft to `body` and saves the data that it returns, `undefined` to delete. Resolves with what a later `read` gives.
   * When `body` throws, what it returned is not valid, or the write fails, nothing has changed.
   */
  change(body: (draft: T, stored: () => Stored | undefined) => Promise<unknown>): Promise<T>;
}

export type OpenSlot<T> = (path: DocumentPath) => Slot<T>;

/** Slots of one shape. What the shape made of a small document is kept as long as the document stays as it is. */
export function createSlots<T>(vault: Vault, shape: Shape<T>): OpenSlot<T> {
  const views = new WeakMap<Entry, { readonly value: T }>();
  /** What all documents are that are not stored. */
  let absent: { readonly value: T } | undefined;

  const keepView = (entry: Entry, value: T) => {
    if (entry.json === undefined) absent = { value };
    else if (isSmall(entry)) views.set(entry, { value });
  };
  const copyOf = (entry: Entry, path: DocumentPath): T => {
    const known = entry.json === undefined ? absent : views.get(entry);
    if (known !== undefined) return structuredClone(known.value);
    const value = shape.read(storedIn(entry), nameOf(path));
    keepView(entry, value);
    return structuredClone(value);
  };

  /** Inside the document's turn: what does not fit the schema is put aside until something does. */
  const usable = (path: DocumentPath): Promise<{ readonly entry: Entry; readonly draft: T }> =>
    untilUsable(path, async () => {
      const entry = await vault.load(path);
      try {
        return { entry, draft: copyOf(entry, path) };
      } catch (error) {
        if (!(error instanceof InvalidDocument) || entry.json === undefined) throw error;
        await vault.reject(path, error.message);
        return undefined;
      }
    });

  const save = async (path: DocumentPath, before: Entry, data: unknown): Promise<T> => {
    const stored = data === undefined ? undefined : { version: shape.version, data: asJson(data) };
    // Before it is saved: what the shape does not take is not written.
    const value = shape.read(stored, nameOf(path));
    const copy = structuredClone(value);
    const old = storedIn(before);
    if (before.json === (stored === undefined ? undefined : JSON.stringify(stored))) return copy;
    if (old !== undefined && stored !== undefined && old.version < stored.version) {
      await vault.keep(path, `v${old.version}`);
    }
    keepView(await vault.save(path, stored), value);
    return copy;
  };

  return (path) => ({
    async read() {
      const entry = vault.peek(path) ?? (await vault.load(path));
      try {
        return copyOf(entry, path);
      } catch (error) {
        if (!(error instanceof InvalidDocument)) throw error;
      }
      return vault.exclusive(path, async () => (await usable(path)).draft);
    },
    change: (body) =>
      vault.exclusive(path, async () => {
        const { entry, draft } = await usable(path);
        return save(path, entry, await body(draft, () => storedIn(entry)));
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
