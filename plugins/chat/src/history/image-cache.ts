import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@cinnabar/sdk';

import type { CachedImage } from './types.js';

interface ImageCacheLimits {
  readonly maxAgeMs: number;
  readonly maxTotalBytes: number;
}

/** Images on disk, found by key through an index in memory. */
export interface ImageCache {
  /** `undefined` when it is not there, too old, or no longer the image that it was. */
  read(key: string): Promise<{ readonly bytes: Buffer; readonly mediaType: MediaType } | undefined>;
  /** Written beside and moved into place: whoever is killed meanwhile leaves no half image. Makes room first. */
  write(key: string, bytes: Buffer, mediaType: MediaType): Promise<void>;
  clear(): Promise<void>;
  readonly totalBytes: number;
}

interface Entry {
  readonly name: string;
  readonly bytes: number;
  readonly storedAt: number;
}

const IMAGE = /^([0-9a-f]{64})\.(?:png|jpg|gif|webp)$/;
const PART = '.part';

/** Opens the folder: reads what is there, and clears what an earlier run left unfinished. */
export async function openImageCache(folder: string, clock: Clock, limits: ImageCacheLimits): Promise<ImageCache> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // The oldest first, and kept so: new ones come at the end.
  const index = new Map(await entriesOf(folder));
  let totalBytes = 0;
  for (const { bytes } of index.values()) totalBytes += bytes;

  const remove = async (key: string) => {
    const entry = index.get(key);
    if (entry === undefined) return;
    index.delete(key);
    totalBytes -= entry.bytes;
    await rm(join(folder, entry.name), { force: true });
  };
  const makeRoom = async (needed: number) => {
    for (const [key, { storedAt }] of index) {
      if (clock.now() - storedAt < limits.maxAgeMs && totalBytes + needed <= limits.maxTotalBytes) return;
      await remove(key);
    }
  };

  return {
    get totalBytes() {
      return totalBytes;
    },
    async read(key) {
      await makeRoom(0);
      const entry = index.get(key);
      if (entry === undefined) return undefined;
      const bytes = await readFile(join(folder, entry.name)).catch(() => undefined);
      const mediaType = bytes === undefined ? undefined : mediaTypeOf(bytes);
      if (bytes !== undefined && bytes.byteLength === entry.bytes && mediaType !== undefined)
        return { bytes, mediaType };
      await remove(key);
      return undefined;
    },
    async write(key, bytes, mediaType) {
      await remove(key);
      await makeRoom(bytes.byteLength);
      if (bytes.byteLength > limits.maxTotalBytes) return;
      const name = `${key}.${EXTENSIONS[mediaType]}`;
      const storedAt = clock.now();
      const part = join(folder, `${name}${PART}`);
      await writeFile(part, bytes, { mode: 0o600, flush: true });
      await utimes(part, storedAt / 1000, storedAt / 1000);
      await rename(part, join(folder, name));
      index.set(key, { name, bytes: bytes.byteLength, storedAt });
      totalBytes += bytes.byteLength;
    },
    async clear() {
      for (const key of [...index.keys()]) await remove(key);
    },
  };
}

async function entriesOf(folder: string): Promise<readonly (readonly [key: string, entry: Entry])[]> {
  const found: (readonly [string, Entry])[] = [];
  for (const name of await readdir(folder)) {
    if (name.endsWith(PART)) await rm(join(folder, name), { force: true });
    const [, key] = IMAGE.exec(name) ?? [];
    if (key === undefined) continue;
    const { size, mtimeMs } = await stat(join(folder, name));
    found.push([key, { name, bytes: size, storedAt: mtimeMs }]);
  }
  return found.sort(([, a], [, b]) => a.storedAt - b.storedAt);
}

type MediaType = CachedImage['mediaType'];

/** By the name under which files are kept. */
const EXTENSIONS: Readonly<Record<MediaType, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};

/** What an image is by its first bytes, whatever its name and headers say; `undefined` when it is none that models take. */
export function mediaTypeOf(bytes: Buffer): MediaType | undefined {
  if (bytes.subarray(0, PNG.length).equals(PNG)) return 'image/png';
  if (bytes.subarray(0, JPEG.length).equals(JPEG)) return 'image/jpeg';
  const text = bytes.subarray(0, 12).toString('latin1');
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'image/gif';
  return text.startsWith('RIFF') && text.endsWith('WEBP') ? 'image/webp' : undefined;
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

const JPEG = Buffer.from([0xff, 0xd8, 0xff]);
