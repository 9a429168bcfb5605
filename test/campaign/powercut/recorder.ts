/**
 * Loaded before anything else (`node --import`): it wraps `node:fs`, and records the operations on files below a folder. A power cut is simulated by killing
 * the process; `disk.ts` then computes the surviving content. Operations below `node:fs` are not recorded: a real disk is tested by hand (`README.md` of the
 * campaigns).
 */
import fs, { type PathLike } from 'node:fs';
import fsPromises, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, resolve } from 'node:path';
import { type DiskOperation, fileBefore, type RecorderOrders } from './operations.js';

const orders: RecorderOrders = JSON.parse(process.env.CINNABAR_POWERCUT ?? '{}');
const real = { ...fs };
const realPromises = { ...fsPromises };
const log = real.openSync(orders.log, 'a');

let done = 0;
let created = 0;
/** The file id of each name. */
const files = new Map<string, string>();
const sizes = new Map<string, number>();

const isBelow = (path: string) => path === orders.root || path.startsWith(`${orders.root}/`);
const pathOf = (path: PathLike): string => resolve(String(path));

function record(operation: DiskOperation): void {
  real.writeSync(log, `${JSON.stringify(operation)}\n`);
  done += 1;
  if (done === orders.cutAfter) process.kill(process.pid, 'SIGKILL');
}

function fileAt(path: string): string {
  const known = files.get(path);
  if (known !== undefined) return known;
  const file = fileBefore(path);
  files.set(path, file);
  sizes.set(file, real.statSync(path, { throwIfNoEntry: false })?.size ?? 0);
  return file;
}

function create(path: string): string {
  created += 1;
  const file = `new:${created}`;
  files.set(path, file);
  sizes.set(file, 0);
  record({ op: 'create', path, file });
  return file;
}

function write(file: string, at: number, content: Buffer): void {
  sizes.set(file, Math.max(sizes.get(file) ?? 0, at + content.length));
  record({ op: 'write', file, at, base64: content.toString('base64') });
}
const append = (file: string, content: Buffer) => write(file, sizes.get(file) ?? 0, content);

function truncate(file: string, size: number): void {
  sizes.set(file, size);
  record({ op: 'truncate', file, size });
}

function rename(from: string, to: string): void {
  const file = fileAt(from);
  files.delete(from);
  files.set(to, file);
  record({ op: 'rename', from, to });
}

function unlink(path: string, wasThere: boolean): void {
  if (!wasThere) return;
  files.delete(path);
  record({ op: 'unlink', path });
}

function madeFolders(last: string, first: string | undefined): void {
  if (first === undefined) return;
  const made: string[] = [];
  for (let path = last; path.length >= first.length; path = dirname(path)) made.unshift(path);
  for (const path of made) record({ op: 'mkdir', path });
}

/** The effect of opening a file. */
function opened(path: string, flags: string | number | undefined, wasThere: boolean): string {
  if (!wasThere) return create(path);
  const file = fileAt(path);
  if (String(flags).startsWith('w') && (sizes.get(file) ?? 0) > 0) truncate(file, 0);
  return file;
}

function bytes(data: unknown): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  throw new TypeError('the recorder knows texts and bytes only');
}

/** Replaces some functions of `node:fs` for paths below the root. */
function replace<T extends object>(target: T, own: Partial<T>): void {
  Object.assign(target, own);
}

function recordHandle(handle: FileHandle, path: string, file: string): FileHandle {
  const { appendFile, writeFile, datasync, sync, truncate: cut } = handle;
  const isFolder = file === '';
  const synced = async (operation: () => Promise<void>) => {
    const upTo = done;
    await operation();
    record(isFolder ? { op: 'syncFolder', path, upTo } : { op: 'sync', file, upTo });
  };
  return Object.assign(handle, {
    async appendFile(data: string | Uint8Array) {
      await appendFile.call(handle, data);
      append(file, bytes(data));
    },
    async writeFile(data: string | Uint8Array) {
      await writeFile.call(handle, data);
      append(file, bytes(data));
    },
    async truncate(size = 0) {
      await cut.call(handle, size);
      truncate(file, size);
    },
    sync: () => synced(() => sync.call(handle)),
    datasync: () => synced(() => datasync.call(handle)),
  });
}

replace(fsPromises, {
  async open(given, flags, mode) {
    const path = pathOf(given);
    if (!isBelow(path)) return realPromises.open(given, flags, mode);
    const before = real.statSync(path, { throwIfNoEntry: false });
    const handle = await realPromises.open(given, flags, mode);
    if (before?.isDirectory() === true) return recordHandle(handle, path, '');
    return recordHandle(handle, path, opened(path, flags, before !== undefined));
  },
  async rename(from, to) {
    await realPromises.rename(from, to);
    if (isBelow(pathOf(from))) rename(pathOf(from), pathOf(to));
  },
  async rm(path, options) {
    const wasThere = real.existsSync(path);
    await realPromises.rm(path, options);
    if (isBelow(pathOf(path))) unlink(pathOf(path), wasThere);
  },
  async copyFile(from, to, mode) {
    await realPromises.copyFile(from, to, mode);
    if (isBelow(pathOf(to))) append(create(pathOf(to)), real.readFileSync(to));
  },
});
const makeFolder = realPromises.mkdir;
Object.assign(fsPromises, {
  async mkdir(path: PathLike, options?: { readonly recursive: true; readonly mode?: number }) {
    const first = await makeFolder(path, { recursive: true, ...options });
    if (isBelow(pathOf(path))) madeFolders(pathOf(path), first);
    return first;
  },
});

/** Open files, by descriptor; `undefined` for a folder. */
const descriptors = new Map<number, { readonly path: string; readonly file: string | undefined }>();

replace(fs, {
  openSync(given, flags, mode) {
    const path = pathOf(given);
    const before = isBelow(path) ? real.statSync(path, { throwIfNoEntry: false }) : undefined;
    const descriptor = real.openSync(given, flags, mode);
    if (!isBelow(path)) return descriptor;
    const file = before?.isDirectory() === true ? undefined : opened(path, flags, before !== undefined);
    descriptors.set(descriptor, { path, file });
    return descriptor;
  },
  fsyncSync(descriptor) {
    const known = descriptors.get(descriptor);
    const upTo = done;
    real.fsyncSync(descriptor);
    if (known === undefined) return;
    const { path, file } = known;
    record(file === undefined ? { op: 'syncFolder', path, upTo } : { op: 'sync', file, upTo });
  },
  closeSync(descriptor) {
    descriptors.delete(descriptor);
    real.closeSync(descriptor);
  },
  renameSync(from, to) {
    real.renameSync(from, to);
    if (isBelow(pathOf(from))) rename(pathOf(from), pathOf(to));
  },
  linkSync(from, to) {
    real.linkSync(from, to);
    if (!isBelow(pathOf(from))) return;
    files.set(pathOf(to), fileAt(pathOf(from)));
    record({ op: 'link', from: pathOf(from), to: pathOf(to) });
  },
  unlinkSync(path) {
    real.unlinkSync(path);
    if (isBelow(pathOf(path))) unlink(pathOf(path), true);
  },
  rmSync(path, options) {
    const wasThere = real.existsSync(path);
    real.rmSync(path, options);
    if (isBelow(pathOf(path))) unlink(pathOf(path), wasThere);
  },
  writeFileSync(target, data, options) {
    if (typeof target === 'number' || !isBelow(pathOf(target))) return real.writeFileSync(target, data, options);
    const path = pathOf(target);
    const wasThere = real.existsSync(path);
    real.writeFileSync(path, data, options);
    append(opened(path, 'w', wasThere), bytes(data));
  },
});
const makeFolderSync = real.mkdirSync;
Object.assign(fs, {
  writeSync(descriptor: number, data: string | NodeJS.ArrayBufferView, ...where: readonly unknown[]) {
    const written: unknown = Reflect.apply(real.writeSync, fs, [descriptor, data, ...where]);
    const file = descriptors.get(descriptor)?.file;
    // Synchronous callers here write a whole file at once.
    if (file !== undefined) append(file, bytes(data));
    return written;
  },
  mkdirSync(path: PathLike, options?: { readonly recursive: true; readonly mode?: number }) {
    const first = makeFolderSync(path, { recursive: true, ...options });
    if (isBelow(pathOf(path))) madeFolders(pathOf(path), first);
    return first;
  },
});
syncBuiltinESMExports();
