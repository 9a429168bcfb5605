import { z } from '@cinnabar/sdk';
import { DamagedDocument, type DocumentPath, type Driver, decodeStored, encodeStored } from '../driver.js';

export interface MemoryDriver extends Driver {
  /** Makes the next `times` writes, deletions and erasures fail with `error`, of one document when it is given. */
  failWrites(error: Error, times?: number, path?: DocumentPath): void;
  /** Replaces the stored text, as a disk fault or a person would; with `lastGood`, that copy, too. */
  damage(path: DocumentPath, text: string, options?: { readonly lastGood?: boolean }): void;
  /** The put-aside and kept copies of a document, oldest first. */
  aside(path: DocumentPath): readonly string[];
  /** Number of completed writes of documents. */
  readonly writes: number;
}

interface Shelf {
  current: string | undefined;
  lastGood: string | undefined;
  readonly aside: string[];
}

/** A driver that keeps documents in memory, as text, so that no objects are shared by accident. For tests and temporary hosts. */
export function createMemoryDriver(): MemoryDriver {
  const shelves = new Map<string, { readonly path: DocumentPath; readonly shelf: Shelf }>();
  const failures: { readonly error: Error; left: number; readonly id: string | undefined }[] = [];
  /** The added pieces of each journal, which are joined when it is read: joining them with each addition would take longer each time. */
  const journals = new Map<string, string[]>();
  let copies: readonly { readonly id: string; readonly text: string }[] = [];
  let writes = 0;

  const find = (path: DocumentPath) => shelves.get(JSON.stringify(path))?.shelf;
  const open = (path: DocumentPath) => {
    const found = find(path);
    if (found !== undefined) return found;
    const shelf: Shelf = { current: undefined, lastGood: undefined, aside: [] };
    shelves.set(JSON.stringify(path), { path, shelf });
    return shelf;
  };
  const mayWrite = (path: DocumentPath) => {
    const failure = failures.find(({ left, id }) => left > 0 && (id === undefined || id === JSON.stringify(path)));
    if (failure === undefined) return;
    failure.left -= 1;
    throw failure.error;
  };
  const dropWhenEmpty = (path: DocumentPath, shelf: Shelf) => {
    if (shelf.current === undefined && shelf.aside.length === 0) shelves.delete(JSON.stringify(path));
  };

  return {
    async read(path) {
      const text = find(path)?.current;
      return text === undefined ? undefined : decodeStored(text);
    },
    async write(path, stored) {
      const text = encodeStored(stored);
      mayWrite(path);
      const shelf = open(path);
      shelf.current = text;
      shelf.lastGood = text;
      writes += 1;
    },
    async delete(path) {
      mayWrite(path);
      const shelf = find(path);
      if (shelf === undefined) return;
      shelf.current = undefined;
      shelf.lastGood = undefined;
      dropWhenEmpty(path, shelf);
    },
    async erase(path) {
      mayWrite(path);
      shelves.delete(JSON.stringify(path));
    },
    async list(prefix) {
      return [...shelves.values()]
        .map(({ path }) => path)
        .filter((path) => prefix.every((segment, index) => path[index] === segment) && path.length > prefix.length);
    },
    async setAside(path) {
      const shelf = find(path);
      if (shelf?.current === undefined) return undefined;
      const { current, lastGood } = shelf;
      const place = `memory:${path.join('/')}.corrupt-${shelf.aside.push(current)}`;
      shelf.current = lastGood === current ? undefined : lastGood;
      if (shelf.current === undefined) shelf.lastGood = undefined;
      return place;
    },
    async keep(path, label) {
      const shelf = find(path);
      if (shelf?.current === undefined) throw new DamagedDocument('there is nothing to keep');
      return `memory:${path.join('/')}.${label}-${shelf.aside.push(shelf.current)}`;
    },
    journal(path) {
      const id = JSON.stringify(path);
      const text = () => (journals.get(id) ?? []).join('');
      return {
        name: path.join('/'),
        read: async () => text(),
        async add(lines) {
          mayWrite(path);
          const before = journals.get(id) ?? [];
          if (before.at(-1)?.endsWith('\n') === false) before.push('\n');
          before.push(lines);
          journals.set(id, before);
        },
        async replace(lines) {
          mayWrite(path);
          journals.set(id, [lines]);
        },
        get size() {
          return Buffer.byteLength(text());
        },
        async keepCopy(label) {
          if (text() === '') return undefined;
          copies = [...copies, { id, text: text() }];
          return `memory:${path.join('/')}.${label}`;
        },
        async eraseCopies(isConcerned) {
          mayWrite(path);
          copies = copies.filter((copy) => copy.id !== id || !isConcerned(copy.text));
        },
        async erase() {
          mayWrite(path);
          journals.delete(id);
          copies = copies.filter((copy) => copy.id !== id);
        },
        async release() {},
      };
    },
    async journals(prefix = []) {
      const filled = [...journals]
        .map(([id, parts]) => [id, parts.join('')] as const)
        .filter(([, text]) => text !== '');
      return filled
        .map(([id, text]) => ({
          path: z.array(z.string()).parse(JSON.parse(id)),
          bytes: Buffer.byteLength(text),
          isOwn: true,
        }))
        .filter(({ path }) => prefix.every((segment, index) => path[index] === segment));
    },
    async eraseJournals(plugin) {
      for (const id of journals.keys()) if (id.startsWith(`[${JSON.stringify(plugin)},`)) journals.delete(id);
    },
    async close() {},
    failWrites(error, times = 1, path = undefined) {
      failures.push({ error, left: times, id: path && JSON.stringify(path) });
    },
    damage(path, text, options) {
      const shelf = open(path);
      shelf.current = text;
      if (options?.lastGood === true) shelf.lastGood = text;
    },
    aside: (path) => [...(find(path)?.aside ?? [])],
    get writes() {
      return writes;
    },
  };
}

/** A driver that reads the documents of another one, and keeps every change in memory: nothing is written. Journals start empty. */
export function createDryRunDriver(driver: Driver): Driver {
  const changes = createMemoryDriver();
  const touched = new Set<string>();
  const idOf = (path: DocumentPath) => JSON.stringify(path);
  const touch = (path: DocumentPath) => void touched.add(idOf(path));
  return {
    ...changes,
    read: (path) => (touched.has(idOf(path)) ? changes.read(path) : driver.read(path)),
    async write(path, stored) {
      touch(path);
      await changes.write(path, stored);
    },
    async delete(path) {
      touch(path);
      await changes.delete(path);
    },
    async erase(path) {
      touch(path);
      await changes.erase(path);
    },
    async list(prefix, whose) {
      const kept = (await driver.list(prefix, whose)).filter((path) => !touched.has(idOf(path)));
      return [...kept, ...(await changes.list(prefix))];
    },
    async setAside(path) {
      touch(path);
      return undefined;
    },
    keep: async (path, label) => `${path.join('/')}.${label}`,
    close: () => driver.close(),
  };
}
