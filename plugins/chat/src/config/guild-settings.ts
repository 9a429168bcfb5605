import { z } from '@cinnabar/sdk';
import { IMAGE_LIMITS, type ImageLimits } from '../history/attachment-cache.js';
import { LOG_LIMITS, type LogLimits } from '../history/logs.js';
import { LEAVES, type Leaf } from './keys.js';

/** The earlier name of `recencyWindow`. */
export const OLD_NAME = 'history';

/** The keys that admins may set for their server. None has a default: keys that are not set come from the files. */
export const guildSettings = z.object({
  ...Object.fromEntries(
    [...LEAVES.values()].filter(({ scope }) => scope !== 'files').map((leaf) => [leaf.path, asSetting(leaf)]),
  ),
  [OLD_NAME]: z.int().min(1).max(200).optional().describe('The earlier name of recencyWindow'),
});

function asSetting({ schema, description, fallback, lowerOnly }: Leaf): z.ZodType {
  const notes = [
    fallback === undefined ? '' : `; ${String(fallback) || 'none'} unless the bot's owner says otherwise`,
    lowerOnly === undefined
      ? ''
      : typeof fallback === 'boolean'
        ? '. Can be switched off, not on'
        : '. Can be lowered, not raised',
  ];
  return z.optional(schema).describe(`${description}${notes.join('')}`);
}

const MEGABYTE = 1_000_000;
const HOUR_MS = 60 * 60_000;

/** Limits of caches, which the bot's owner sets; read when the plugin starts. */
export const cacheSettings = z.object({
  imageCacheMegabytes: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(IMAGE_LIMITS.maxTotalBytes / MEGABYTE)
    .describe('All cached images together on disk, in megabytes; the oldest go first. From the next start on'),
  imageCacheHours: z
    .int()
    .min(1)
    .max(8_760)
    .default(IMAGE_LIMITS.maxAgeMs / HOUR_MS)
    .describe('How many hours a cached image is kept, then it is fetched again. From the next start on'),
  historyCacheMegabytes: z
    .int()
    .min(1)
    .max(10_000)
    .default(LOG_LIMITS.all.bytes / MEGABYTE)
    .describe('The history of all channels in memory, in megabytes. From the next start on'),
  historyCacheMessages: z
    .int()
    .min(1_000)
    .max(10_000_000)
    .default(LOG_LIMITS.all.messages)
    .describe('The history of all channels in memory, in messages. From the next start on'),
  historyCacheChannels: z
    .int()
    .min(1)
    .max(10_000)
    .default(LOG_LIMITS.channels)
    .describe(
      'Channels whose history is kept in memory; the one answered longest ago goes first. From the next start on',
    ),
});
type CacheSettings = z.output<typeof cacheSettings>;

export function imageLimitsOf({ imageCacheMegabytes, imageCacheHours }: CacheSettings): ImageLimits {
  return { ...IMAGE_LIMITS, maxTotalBytes: imageCacheMegabytes * MEGABYTE, maxAgeMs: imageCacheHours * HOUR_MS };
}

/** The limits of the history. One channel's limit is the same share of the total as by default. */
export function historyLimitsOf(settings: CacheSettings): LogLimits {
  const bytes = settings.historyCacheMegabytes * MEGABYTE;
  const channelBytes = Math.ceil((bytes * LOG_LIMITS.channelBytes) / LOG_LIMITS.all.bytes);
  return {
    channels: settings.historyCacheChannels,
    all: { messages: settings.historyCacheMessages, bytes },
    channelBytes,
  };
}
