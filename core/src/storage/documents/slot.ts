import type { DocumentPath, Stored } from '../driver.js';
import { nameOf } from './path-names.js';
import { InvalidDocument, type Shape } from './shape.js';
import { type Entry, untilUsable, type Vault } from './vault.js';

/** One document, understood by its shape. */
export interface Slot<T> {
  /** A copy of the caller's own. */
  read(): Promise<T>;
  /**
   * Hands a draft to `body` and saves the data that it returns, `undefined` to delete. Resolves with what a later `read` gives.
   * When `body` throws, what it returned is not valid, or the write fails, nothing has changed.
   */
  change(body: (draft: T, stored: Stored | undefined) => Promise<unknown>): Promise<T>;
}

export type OpenSlot<T> = (path: DocumentPath) => Slot<T>;

/** Slots of one shape. What the shape made of a stored document is kept as long as the document stays as it is. */
export function createSlots<T>(vault: Vault, shape: Shape<T>): OpenSlot<T> {
  const views = new WeakMap<Entry, { readonly value: T }>();

  const view = (entry: Entry, path: DocumentPath): T => {
    const known = views.get(entry);
    if (known !== undefined) return known.value;
    const value = shape.read(entry.stored, nameOf(path));
    views.set(entry, { value });
    return value;
  };

  /** Inside the document's turn: what does not fit the schema is put aside until something does. */
  const usable = (path: DocumentPath): Promise<{ readonly entry: Entry; readonly value: T }> =>
    untilUsable(path, async () => {
      const entry = await vault.load(path);
      try {
        return { entry, value: view(entry, path) };
      } catch (error) {
        if (!(error instanceof InvalidDocument) || entry.stored === undefined) throw error;
        await vault.reject(path, error.message);
        return undefined;
      }
    });

  const save = async (path: DocumentPath, before: Entry, data: unknown): Promise<T> => {
    const stored = data === undefined ? undefined : { version: shape.version, data: asJson(data) };
    const value = shape.read(stored, nameOf(path));
    const copy = structuredClone(value);
    if (isSame(before.stored, stored)) return copy;
    if (before.stored !== undefined && stored !== undefined && before.stored.version < stored.version) {
      await vault.keep(path, `v${before.stored.version}`);
    }
    views.set(await vault.save(path, stored), { value });
    return copy;
  };

  return (path) => ({
    async read() {
      const entry = vault.peek(path) ?? (await vault.load(path));
      try {
        return structuredClone(view(entry, path));
      } catch (error) {
        if (!(error instanceof InvalidDocument)) throw error;
      }
      return vault.exclusive(path, async () => structuredClone((await usable(path)).value));
    },
    change: (body) =>
      vault.exclusive(path, async () => {
        const { entry, value } = await usable(path);
        return save(path, entry, await body(structuredClone(value), entry.stored));
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

function isSame(before: Stored | undefined, after: Stored | undefined): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}
