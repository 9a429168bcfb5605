import { isTextFile, type TextFile } from '@cinnabar/sdk';
import type { CachedImage, HistoryAttachment, HistoryMessage, Images, TextFiles } from '../../history/types.js';
import type { ContextConfig } from '../types.js';

/** Of one kind of attachment: which there are, how they are had, and how many are shown. */
export interface Kind<T> {
  /** As it is named where some made room for others. */
  readonly name: string;
  /** At most so many, the newest. */
  readonly most: number;
  /** All of them together. */
  readonly mostBytes: number;
  isOne(attachment: HistoryAttachment): boolean;
  /** `undefined` when it cannot be had, or is too large. */
  load(attachment: HistoryAttachment): Promise<T | undefined>;
  bytesOf(item: T): number;
}

/** By `attachmentKey`. */
export type Shown<T> = ReadonlyMap<string, T>;

export function attachmentKey(message: HistoryMessage, attachment: HistoryAttachment): string {
  return `${message.id}/${message.attachments.indexOf(attachment)}`;
}

type ImageConfig = Pick<ContextConfig, 'includeImages' | 'imageMaxBytes' | 'imageMaxTotalBytes' | 'maxImages'>;

export function imagesOf(
  { includeImages, maxImages, imageMaxBytes, imageMaxTotalBytes }: ImageConfig,
  images: Pick<Images, 'load'>,
): Kind<CachedImage> {
  return {
    name: 'images',
    most: includeImages ? maxImages : 0,
    mostBytes: imageMaxTotalBytes,
    isOne: (attachment) => mayBeImage(attachment) && attachment.sizeBytes <= imageMaxBytes,
    async load(attachment) {
      const image = await images.load(attachment);
      return image === undefined || image.sizeBytes > imageMaxBytes ? undefined : image;
    },
    bytesOf: ({ sizeBytes }) => sizeBytes,
  };
}

function mayBeImage({ contentType, name }: HistoryAttachment): boolean {
  return contentType === null ? /\.(?:png|jpe?g|gif|webp)$/i.test(name) : contentType.startsWith('image/');
}

export function textFilesOf(
  { maxTextFiles, textFileMaxBytes }: Pick<ContextConfig, 'maxTextFiles' | 'textFileMaxBytes'>,
  files: Pick<TextFiles, 'read'>,
): Kind<TextFile> {
  return {
    name: 'text files',
    most: maxTextFiles,
    mostBytes: Number.POSITIVE_INFINITY,
    isOne: isTextFile,
    load: (attachment) => files.read(attachment, textFileMaxBytes),
    bytesOf: ({ text }) => text.length,
  };
}

interface Candidate {
  readonly key: string;
  readonly attachment: HistoryAttachment;
}

/** Attachments that may be of this kind, the newest first. */
function candidatesIn<T>(messages: readonly HistoryMessage[], kind: Kind<T>): readonly Candidate[] {
  return messages
    .filter(({ author, attachments }) => attachments.length > 0 && !author.self)
    .flatMap((message) =>
      message.attachments.map((attachment) => ({ key: attachmentKey(message, attachment), attachment })),
    )
    .filter(({ attachment }) => kind.isOne(attachment))
    .reverse();
}

/** The newest that fit the limits. */
export async function newest<T>(messages: readonly HistoryMessage[], kind: Kind<T>): Promise<Shown<T>> {
  const shown = new Map<string, T>();
  let bytes = 0;
  for (const { key, attachment } of candidatesIn(messages, kind)) {
    if (shown.size >= kind.most) break;
    const item = await kind.load(attachment);
    if (item === undefined) continue;
    if (bytes + kind.bytesOf(item) > kind.mostBytes) break;
    bytes += kind.bytesOf(item);
    shown.set(key, item);
  }
  return shown;
}

/**
 * Those shown before, and the new ones behind them: what the provider has cached keeps its attachments. `undefined` when they are more
 * than the limits allow: then the oldest have to go, which changes the prefix.
 * @param isNew whether a message came after the previous request
 */
export async function kept<T>(
  messages: readonly HistoryMessage[],
  before: ReadonlySet<string>,
  isNew: (message: HistoryMessage) => boolean,
  kind: Kind<T>,
): Promise<Shown<T> | undefined> {
  if (kind.most === 0) return new Map();
  const candidates = candidatesIn(messages, kind);
  if (candidates.length === 0) return new Map();
  const recent = new Set(candidatesIn(messages.filter(isNew), kind).map(({ key }) => key));
  const wanted = candidates.filter(({ key }) => before.has(key) || recent.has(key));
  const loaded = await Promise.all(wanted.map(({ attachment }) => kind.load(attachment)));
  const shown = new Map<string, T>();
  for (const [index, { key }] of wanted.entries()) {
    const item = loaded[index];
    if (item !== undefined) shown.set(key, item);
  }
  const bytes = [...shown.values()].reduce((sum, item) => sum + kind.bytesOf(item), 0);
  return shown.size > kind.most || bytes > kind.mostBytes ? undefined : shown;
}
