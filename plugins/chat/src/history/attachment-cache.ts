import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Clock,
  type DownloadFailure,
  downloadAttachment,
  type Fetch,
  type FreshLink,
  type Logger,
  lastingAddress,
  type MayFetch,
  readTextFile,
  type TextFile,
} from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import type { CachedImage, HistoryAttachment, Images, TextFiles } from './types.js';

export interface ImageLimits {
  /** Images older than this are fetched again; by default 24 h. */
  readonly maxAgeMs: number;
  /** Limit of all images on the disk; by default 500 MB. The oldest are removed first. */
  readonly maxTotalBytes: number;
  /** Limit of one image, unless the caller allows less; by default 50 MB. */
  readonly maxBytes: number;
  /** Time limit of a download; by default 15 s. */
  readonly timeoutMs: number;
}
export const IMAGE_LIMITS: ImageLimits = {
  maxAgeMs: 24 * 60 * 60_000,
  maxTotalBytes: 500_000_000,
  maxBytes: 50_000_000,
  timeoutMs: 15_000,
};

interface DownloadDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  /** Which addresses are Discord's: `discordAddresses(client.options.rest.api)`. */
  readonly mayFetch: MayFetch;
  /** Replaces an expired link: Discord's links expire after a day, and a window can reach back further. */
  readonly freshLink: FreshLink;
  readonly fetch?: Fetch;
  /** Aborts running downloads. */
  readonly signal?: AbortSignal;
}

interface ImageCacheDependencies extends DownloadDependencies {
  /** The folder of the images, which contains nothing else. Called for the first image. */
  readonly folder: () => Promise<string>;
  readonly limits?: Partial<ImageLimits>;
}

const REMEMBERED_FAILURES = 2_000;
/** Time before a failed address is tried again. Without it, every activation would request it. */
const LEFT_ALONE_MS: Readonly<Record<DownloadFailure, number>> = { final: 30 * 60_000, passing: 60_000 };

/** Images of messages, from a cache on the disk or from Discord's CDN. */
export function createImages(parts: ImageCacheDependencies): Images {
  const { folder, clock, log, mayFetch } = parts;
  const limits = { ...IMAGE_LIMITS, ...parts.limits };
  const loading = new Map<string, Promise<CachedImage | undefined>>();
  const failed = new LRUCache<string, true>({
    max: REMEMBERED_FAILURES,
    ttl: LEFT_ALONE_MS.final,
    ttlResolution: 0,
    perf: { now: () => clock.now() },
  });
  let opened: ReturnType<typeof openImageCache> | undefined;
  const open = () => {
    opened ??= folder().then((path) => openImageCache(path, clock, limits));
    return opened;
  };

  const fetchImage = async (url: URL): Promise<Buffer | undefined> => {
    if (failed.has(url.href)) return undefined;
    const result = await downloadAttachment(url, { ...parts, ...limits });
    const failure = typeof result === 'string' ? result : mediaTypeOf(result) === undefined ? 'final' : undefined;
    if (failure !== undefined) {
      failed.set(url.href, true, { ttl: LEFT_ALONE_MS[failure] });
      log.debug('an image was not loaded', { host: url.host, path: url.pathname, failure });
    }
    return failure === undefined && typeof result !== 'string' ? result : undefined;
  };
  const load = async (url: URL, key: string): Promise<CachedImage | undefined> => {
    const place = await open();
    const kept = await place.read(key);
    if (kept !== undefined) return kept;
    const bytes = await fetchImage(url);
    const image = bytes === undefined ? undefined : toImage(bytes);
    if (bytes === undefined || image === undefined) return undefined;
    await place.write(key, bytes, image.mediaType).catch((error: unknown) => {
      log.warn('an image could not be kept on disk', { error });
    });
    return image;
  };

  return {
    async load({ url: address, sizeBytes }, { maxBytes = limits.maxBytes } = {}) {
      const most = Math.min(maxBytes, limits.maxBytes);
      const url = URL.canParse(address) ? new URL(address) : undefined;
      if (url === undefined || !mayFetch(url) || sizeBytes > most) return undefined;
      const key = imageKey(url);
      const task = loading.get(key) ?? load(url, key).finally(() => loading.delete(key));
      loading.set(key, task);
      try {
        const image = await task;
        return image !== undefined && image.sizeBytes <= most ? image : undefined;
      } catch (error) {
        opened = undefined;
        log.warn('the image cache cannot be used', { error });
        return undefined;
      }
    },
    async clear() {
      await Promise.allSettled(loading.values());
      await (await open()).clear();
    },
  };
}

/** A key of an image that does not change when its link is renewed. */
function imageKey(url: URL): string {
  return createHash('sha256').update(lastingAddress(url)).digest('hex');
}

function toImage(bytes: Buffer): CachedImage | undefined {
  const mediaType = mediaTypeOf(bytes);
  return mediaType && { mediaType, base64: bytes.toString('base64'), sizeBytes: bytes.byteLength };
}

interface Entry {
  readonly name: string;
  readonly bytes: number;
  readonly storedAt: number;
}

const IMAGE = /^([0-9a-f]{64})\.(?:png|jpg|gif|webp)$/;
const PART = '.part';

/** Images on the disk, found by key through an index in memory. Opening it removes unfinished files of an earlier run. */
async function openImageCache(folder: string, clock: Clock, limits: Pick<ImageLimits, 'maxAgeMs' | 'maxTotalBytes'>) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Oldest first: new ones are added at the end.
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
    /** `undefined` when the image is missing, too old, or was changed on the disk. */
    async read(key: string): Promise<CachedImage | undefined> {
      await makeRoom(0);
      const entry = index.get(key);
      if (entry === undefined) return undefined;
      const bytes = await readFile(join(folder, entry.name)).catch(() => undefined);
      const image = bytes?.byteLength === entry.bytes ? toImage(bytes) : undefined;
      if (image !== undefined) return image;
      await remove(key);
      return undefined;
    },
    /** Removes old images if necessary, writes the image to a temporary file and renames it, so that a killed process leaves no partial image. */
    async write(key: string, bytes: Buffer, mediaType: MediaType): Promise<void> {
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
    async clear(): Promise<void> {
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

/** File extensions by media type. */
const EXTENSIONS: Readonly<Record<MediaType, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};

/** The type of an image by its first bytes, whatever its name and headers say; `undefined` for types that models do not accept. */
function mediaTypeOf(bytes: Buffer): MediaType | undefined {
  if (bytes.subarray(0, PNG.length).equals(PNG)) return 'image/png';
  if (bytes.subarray(0, JPEG.length).equals(JPEG)) return 'image/jpeg';
  const text = bytes.subarray(0, 12).toString('latin1');
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'image/gif';
  return text.startsWith('RIFF') && text.endsWith('WEBP') ? 'image/webp' : undefined;
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

const JPEG = Buffer.from([0xff, 0xd8, 0xff]);

const MOST_CHARACTERS_KEPT = 4_000_000;
/** Text files of messages: downloaded once, then kept in memory. */
export function createTextFiles(parts: DownloadDependencies): TextFiles {
  const { clock, log } = parts;
  const kept = new LRUCache<string, TextFile | DownloadFailure>({
    maxSize: MOST_CHARACTERS_KEPT,
    sizeCalculation: (file) => (typeof file === 'string' ? 1 : file.text.length + 1),
    ttlResolution: 0,
    perf: { now: () => clock.now() },
  });
  const reading = new Map<string, Promise<TextFile | DownloadFailure>>();
  const load = async (key: string, { url, name, sizeBytes }: HistoryAttachment, maxBytes: number) => {
    const file = await readTextFile({ url, size: sizeBytes }, { ...parts, maxBytes });
    if (typeof file === 'string') {
      kept.set(key, file, { ttl: LEFT_ALONE_MS[file] });
      log.debug('a text file was not read', { name, failure: file });
    } else kept.set(key, file);
    return file;
  };
  return {
    async read(attachment, maxBytes) {
      if (!URL.canParse(attachment.url)) return undefined;
      const key = `${maxBytes} ${lastingAddress(new URL(attachment.url))}`;
      const task =
        kept.get(key) ?? reading.get(key) ?? load(key, attachment, maxBytes).finally(() => reading.delete(key));
      if (task instanceof Promise) reading.set(key, task);
      const file = await task;
      return typeof file === 'string' ? undefined : file;
    },
    clear: () => kept.clear(),
  };
}
