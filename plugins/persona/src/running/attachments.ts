import {
  attachmentDownloads,
  type DownloadFailure,
  downloadAttachment,
  type ImageContent,
  isForPeopleOnly,
  isTextFile,
  type Logger,
  readTextFile,
  sanitizeName,
  withoutNotes,
  withoutNoticeMark,
} from '@cinnabar/sdk';
import { type Attachment, type Message, MessageType } from 'discord.js';
import type { PersonaContext } from '../context.js';

/** What there is beside the words: of the message that is answered, and of the one that it replies to. */
export interface Attachments {
  readonly images: readonly ImageContent[];
  /** Contents of attached texts. */
  readonly texts: readonly { readonly file: string; readonly text: string }[];
  readonly replied: { readonly userId: string; readonly name: string; readonly text: string } | undefined;
}

const MOST_IMAGES = 4;
const MOST_IMAGE_BYTES = 5_000_000;
const MOST_TEXTS = 3;
/** Of each, from its beginning. */
const MOST_TEXT_BYTES = 8_000;
const MOST_REPLIED = 1_500;
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Reads the images and files of a message that the persona answers. What cannot be fetched is left out. */
export async function readAttachments(
  message: Message | null,
  model: string | undefined,
  signal: AbortSignal,
  persona: PersonaContext,
): Promise<Attachments> {
  if (message === null) return { images: [], texts: [], replied: undefined };
  const { client, llm, log } = persona;
  const replied = message.type === MessageType.Reply ? await repliedTo(message, log) : undefined;
  const attachments = [message, ...(replied === undefined ? [] : [replied])].flatMap((one) => [
    ...one.attachments.values(),
  ]);
  const readsImages = (await llm?.traits(model).catch(() => undefined))?.images === true;
  const images = readsImages ? attachments.filter(isImage).slice(0, MOST_IMAGES) : [];
  const files = attachments.filter(isTextFile).slice(0, MOST_TEXTS);
  const downloads = attachmentDownloads(client, { ...persona, signal });
  const pictures = await Promise.all(
    images.map(async (one) => {
      const bytes = await downloadAttachment(new URL(one.url), { ...downloads, maxBytes: MOST_IMAGE_BYTES });
      return unlessFailed(one, bytes, log);
    }),
  );
  const texts = await Promise.all(
    files.map(async (one) =>
      unlessFailed(one, await readTextFile(one, { ...downloads, maxBytes: MOST_TEXT_BYTES }), log),
    ),
  );
  return {
    images: pictures.flatMap((bytes, index) => {
      const mediaType = images[index]?.contentType?.split(';')[0];
      if (bytes === undefined || mediaType === undefined) return [];
      return [
        { type: 'image' as const, source: { type: 'base64' as const, data: bytes.toString('base64'), mediaType } },
      ];
    }),
    texts: texts.flatMap((file, index) =>
      file === undefined ? [] : [{ file: files[index]?.name ?? 'file', text: file.text }],
    ),
    replied: replied && {
      userId: replied.author.id,
      name: sanitizeName(replied.member?.displayName ?? replied.author.displayName) || 'someone',
      text: withoutNotes(withoutNoticeMark(replied.content)).slice(0, MOST_REPLIED),
    },
  };
}

/** Notices and dot messages are for people only. */
async function repliedTo(message: Message, log: Logger): Promise<Message | undefined> {
  try {
    const replied = await message.fetchReference();
    return isForPeopleOnly(replied) ? undefined : replied;
  } catch (error) {
    log.debug('the message that was replied to could not be read', { channelId: message.channelId, error });
    return undefined;
  }
}

function isImage({ contentType, size }: Attachment): boolean {
  return IMAGES.has(contentType?.split(';')[0] ?? '') && size <= MOST_IMAGE_BYTES;
}

function unlessFailed<T extends object>({ name }: Attachment, result: T | DownloadFailure, log: Logger): T | undefined {
  if (typeof result !== 'string') return result;
  log.debug('an attachment could not be read', { name, failure: result });
  return undefined;
}
