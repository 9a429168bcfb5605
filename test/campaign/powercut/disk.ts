import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { Chance } from '../settings/chance.js';
import { type DiskOperation, fileBefore } from './operations.js';

/** The files by path, and the folders, of a disk. */
export interface DiskImage {
  readonly files: ReadonlyMap<string, Buffer>;
  readonly folders: ReadonlySet<string>;
}

/** The part of the unsynced changes that survives. */
const MERCIES = ['nothing', 'everything', 'the first', 'some'] as const;
type Mercy = (typeof MERCIES)[number];

type Entry = { readonly file: string } | { readonly folder: true };
/** A change of names in one folder: the new entry for each name, `undefined` for none. */
type NameChange = ReadonlyMap<string, Entry | undefined>;

interface Pending<T> {
  readonly at: number;
  readonly change: T;
}
interface FileState {
  content: Buffer;
  pending: Pending<DiskOperation & { readonly op: 'write' | 'truncate' }>[];
}
interface FolderState {
  readonly names: Map<string, Entry>;
  pending: Pending<NameChange>[];
}

/**
 * The disk after a power cut that follows these operations. Synced changes survive. Of all others, any combination may survive, in any order: content without
 * its name, a name without its content, the end of a file without the part before it (POSIX promises no more, and file systems differ).
 * @param root a folder that always exists
 */
export function afterPowerCut(
  root: string,
  before: DiskImage,
  operations: readonly DiskOperation[],
  chance: Chance,
): { readonly image: DiskImage; readonly lost: number } {
  const disk = createDisk(root, before);
  for (const [at, operation] of operations.entries()) disk.carryOut(operation, at);

  let lost = 0;
  const mercy = chance.pick(MERCIES);
  const last = chance.below(operations.length + 1);
  const survives = (at: number): boolean => {
    const isLucky = { nothing: false, everything: true, 'the first': at < last, some: chance.below(2) === 0 }[mercy];
    if (!isLucky) lost += 1;
    return isLucky;
  };
  for (const state of disk.folders.values()) {
    for (const { at, change } of state.pending) if (survives(at)) rename(state.names, change);
  }
  for (const state of disk.files.values()) {
    for (const { at, change } of state.pending) {
      if (survives(at)) state.content = changed(state.content, torn(change, mercy, chance));
    }
  }
  return { image: imageOf(root, disk.folders, disk.files), lost };
}

/** A disk that records for each change whether it was synced. */
function createDisk(root: string, before: DiskImage) {
  const files = new Map<string, FileState>();
  const folders = new Map<string, FolderState>([[root, { names: new Map(), pending: [] }]]);
  /** The current names, synced or not. */
  const current = new Map<string, string>();
  const folderOf = (path: string): FolderState => {
    const known = folders.get(path) ?? { names: new Map(), pending: [] };
    folders.set(path, known);
    return known;
  };
  const fileOf = (file: string): FileState => {
    const known = files.get(file) ?? { content: Buffer.alloc(0), pending: [] };
    files.set(file, known);
    return known;
  };
  const note = (at: number, path: string, change: NameChange) => {
    folderOf(dirname(path)).pending.push({ at, change });
  };

  for (const path of before.folders) {
    folderOf(path);
    if (path !== root) folderOf(dirname(path)).names.set(basename(path), { folder: true });
  }
  for (const [path, content] of before.files) {
    const file = fileBefore(path);
    files.set(file, { content, pending: [] });
    folderOf(dirname(path)).names.set(basename(path), { file });
    current.set(path, file);
  }

  const move = (at: number, { from, to, op }: DiskOperation & { readonly op: 'link' | 'rename' }) => {
    const file = current.get(from);
    if (file === undefined) throw new Error(`${from} was moved, but nothing is there`);
    if (op === 'rename') current.delete(from);
    current.set(to, file);
    const change = new Map<string, Entry | undefined>(op === 'rename' ? [[basename(from), undefined]] : []);
    note(at, to, change.set(basename(to), { file }));
  };

  return {
    files,
    folders,
    carryOut(operation: DiskOperation, at: number): void {
      switch (operation.op) {
        case 'create':
          current.set(operation.path, operation.file);
          fileOf(operation.file);
          note(at, operation.path, new Map([[basename(operation.path), { file: operation.file }]]));
          break;
        case 'write':
        case 'truncate':
          fileOf(operation.file).pending.push({ at, change: operation });
          break;
        case 'mkdir':
          folderOf(operation.path);
          note(at, operation.path, new Map([[basename(operation.path), { folder: true }]]));
          break;
        case 'unlink':
          current.delete(operation.path);
          note(at, operation.path, new Map([[basename(operation.path), undefined]]));
          break;
        case 'link':
        case 'rename':
          move(at, operation);
          break;
        case 'sync': {
          const state = fileOf(operation.file);
          for (const { change } of taken(state, operation.upTo)) state.content = changed(state.content, change);
          break;
        }
        case 'syncFolder': {
          const state = folderOf(operation.path);
          for (const { change } of taken(state, operation.upTo)) rename(state.names, change);
        }
      }
    },
  };
}

/** Removes and returns the changes up to that operation. */
function taken<T>(state: { pending: Pending<T>[] }, upTo: number): readonly Pending<T>[] {
  const kept = state.pending.filter(({ at }) => at < upTo);
  state.pending = state.pending.filter(({ at }) => at >= upTo);
  return kept;
}

function rename(names: Map<string, Entry>, change: NameChange): void {
  for (const [name, entry] of change) {
    if (entry === undefined) names.delete(name);
    else names.set(name, entry);
  }
}

function changed(content: Buffer, change: DiskOperation & { readonly op: 'write' | 'truncate' }): Buffer {
  const size = change.op === 'truncate' ? change.size : Math.max(content.length, change.at + bytesOf(change).length);
  const next = Buffer.alloc(size);
  content.copy(next, 0, 0, size);
  if (change.op === 'write') bytesOf(change).copy(next, change.at);
  return next;
}

const bytesOf = ({ base64 }: { readonly base64: string }) => Buffer.from(base64, 'base64');

/** An unsynced write may survive in part, or as a length without its content. */
function torn(change: DiskOperation & { readonly op: 'write' | 'truncate' }, mercy: Mercy, chance: Chance) {
  if (change.op === 'truncate' || mercy === 'everything') return change;
  const bytes = bytesOf(change);
  const fate = chance.below(4);
  if (fate === 0) return { ...change, base64: bytes.subarray(0, chance.below(bytes.length + 1)).toString('base64') };
  return fate === 1 ? { ...change, base64: Buffer.alloc(bytes.length).toString('base64') } : change;
}

function imageOf(
  root: string,
  folders: ReadonlyMap<string, FolderState>,
  files: ReadonlyMap<string, FileState>,
): DiskImage {
  const image = { files: new Map<string, Buffer>(), folders: new Set<string>() };
  const walk = (path: string) => {
    image.folders.add(path);
    for (const [name, entry] of folders.get(path)?.names ?? []) {
      if ('folder' in entry) walk(join(path, name));
      else image.files.set(join(path, name), files.get(entry.file)?.content ?? Buffer.alloc(0));
    }
  };
  walk(root);
  return image;
}

/** The current content of a disk. */
export async function readDisk(root: string): Promise<DiskImage> {
  const image = { files: new Map<string, Buffer>(), folders: new Set([root]) };
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) image.folders.add(path);
    else image.files.set(path, await readFile(path));
  }
  return image;
}

/** Writes the surviving content to another folder. */
export async function writeDisk(image: DiskImage, from: string, to: string): Promise<void> {
  const moved = (path: string) => join(to, relative(from, path));
  for (const folder of image.folders) await mkdir(moved(folder), { recursive: true });
  for (const [path, content] of image.files) await writeFile(moved(path), content, { mode: 0o600 });
}
