import { createHash } from 'node:crypto';
import {
  type Clock,
  type DownloadFailure,
  downloadAttachment,
  type Fetch,
  type FreshLink,
  type Logger,
  lastingAddress,
  type MayFetch,
} from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import { type ImageCache, mediaTypeOf, openImageCache } from './image-cache.js';
import type { CachedImage, Images } from './types.js';

export interface ImageLimits {
  /** Images older than this are fetched again; 24 h. */
  readonly maxAgeMs: number;
  /** All images on disk together; 500 MB. The oldest go first. */
  readonly maxTotalBytes: number;
  /** One image, unless the caller allows less; 50 MB. */
  readonly maxBytes: number;
  /** For one download; 15 s. */
  readonly timeoutMs: number;
}
export const IMAGE_LIMITS: ImageLimits = {
  maxAgeMs: 24 * 60 * 60_000,
  maxTotalBytes: 500_000_000,
  maxBytes: 50_000_000,
  timeoutMs: 15_000,
};

interface ImagesParts {
  /** Where the images lie; nothing else may be in there. Asked for when the first image is. */
  readonly folder: () => Promise<string>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Which addresses are Discord's: `discordAddresses(client.options.rest.api)`. */
  readonly mayFetch: MayFetch;
  /** Discord's links work for a day; a window reaches back further. */
  readonly freshLink: FreshLink;
  readonly fetch?: Fetch;
  readonly limits?: Partial<ImageLimits>;
  /** Ends downloads under way. */
  readonly signal?: AbortSignal;
}

const REMEMBERED_FAILURES = 2_000;
/** An address that failed is left alone for so long: a window asks for the same images at every activation. */
const LEFT_ALONE_MS: Readonly<Record<DownloadFailure, number>> = { final: 30 * 60_000, passing: 60_000 };

/** Images of messages, from a cache on disk or from Discord's CDN. */
export function createImages(parts: ImagesParts): Images {
  const { folder, clock, log, mayFetch } = parts;
  const limits = { ...IMAGE_LIMITS, ...parts.limits };
  const loading = new Map<string, Promise<CachedImage | undefined>>();
  const failed = new LRUCache<string, true>({
    max: REMEMBERED_FAILURES,
    ttl: LEFT_ALONE_MS.final,
    ttlResolution: 0,
    perf: { now: () => clock.now() },
  });
  let shelf: Promise<ImageCache> | undefined;
  const open = () => {
    shelf ??= folder().then((path) => openImageCache(path, clock, limits));
    return shelf;
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
    if (kept !== undefined) return toImage(kept.bytes);
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
        shelf = undefined;
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

/** Names an image for good. */
function imageKey(url: URL): string {
  return createHash('sha256').update(lastingAddress(url)).digest('hex');
}

function toImage(bytes: Buffer): CachedImage | undefined {
  const mediaType = mediaTypeOf(bytes);
  return mediaType && { mediaType, base64: bytes.toString('base64'), sizeBytes: bytes.byteLength };
}
