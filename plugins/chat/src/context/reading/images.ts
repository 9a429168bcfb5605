import type { CachedImage, HistoryAttachment, HistoryMessage, Images } from '../../history/types.js';
import type { ContextConfig } from '../types.js';

export type ImageLimits = Pick<ContextConfig, 'imageMaxBytes' | 'imageMaxTotalBytes' | 'maxImages'>;
/** By `imageKey`. */
export type ShownImages = ReadonlyMap<string, CachedImage>;

export function imageKey(message: HistoryMessage, attachment: HistoryAttachment): string {
  return `${message.id}/${message.attachments.indexOf(attachment)}`;
}

interface Candidate {
  readonly key: string;
  readonly attachment: HistoryAttachment;
}

/** Attachments that may be images, the newest first. */
function candidatesIn(messages: readonly HistoryMessage[], limits: ImageLimits): readonly Candidate[] {
  return messages
    .filter(({ author, attachments }) => attachments.length > 0 && !author.self)
    .flatMap((message) => message.attachments.map((attachment) => ({ key: imageKey(message, attachment), attachment })))
    .filter(({ attachment }) => mayBeImage(attachment) && attachment.sizeBytes <= limits.imageMaxBytes)
    .reverse();
}

function mayBeImage({ contentType, name }: HistoryAttachment): boolean {
  return contentType === null ? /\.(?:png|jpe?g|gif|webp)$/i.test(name) : contentType.startsWith('image/');
}

/** The newest images that fit the limits. */
export async function newestImages(
  messages: readonly HistoryMessage[],
  limits: ImageLimits,
  images: Pick<Images, 'load'>,
): Promise<ShownImages> {
  const shown = new Map<string, CachedImage>();
  let bytes = 0;
  for (const { key, attachment } of candidatesIn(messages, limits)) {
    if (shown.size >= limits.maxImages) break;
    const image = await images.load(attachment);
    if (image === undefined || image.sizeBytes > limits.imageMaxBytes) continue;
    if (bytes + image.sizeBytes > limits.imageMaxTotalBytes) break;
    bytes += image.sizeBytes;
    shown.set(key, image);
  }
  return shown;
}

/**
 * The images shown before, and the new ones behind them: what the provider has cached keeps its images. `undefined` when they are more
 * than the limits allow: then the oldest have to go, which changes the prefix.
 * @param isNew whether a message came after the previous request
 */
export async function keptImages(
  messages: readonly HistoryMessage[],
  before: ReadonlySet<string>,
  isNew: (message: HistoryMessage) => boolean,
  limits: ImageLimits,
  images: Pick<Images, 'load'>,
): Promise<ShownImages | undefined> {
  if (limits.maxImages === 0) return new Map();
  const candidates = candidatesIn(messages, limits);
  if (candidates.length === 0) return new Map();
  const recent = new Set(candidatesIn(messages.filter(isNew), limits).map(({ key }) => key));
  const wanted = candidates.filter(({ key }) => before.has(key) || recent.has(key));
  const loaded = await Promise.all(wanted.map(({ attachment }) => images.load(attachment)));
  const shown = new Map<string, CachedImage>();
  for (const [index, { key }] of wanted.entries()) {
    const image = loaded[index];
    if (image !== undefined && image.sizeBytes <= limits.imageMaxBytes) shown.set(key, image);
  }
  const bytes = [...shown.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return shown.size > limits.maxImages || bytes > limits.imageMaxTotalBytes ? undefined : shown;
}
