import { type APIEmbed, EmbedType } from 'discord-api-types/v10';
import type { LocalAttachment, UploadedFile } from '../state/attachment.js';
import type { LocalMessage } from '../state/message.js';
import type { World } from '../state/world.js';
import { storeFile } from './files.js';

const SCHEME = 'attachment://';

/** Stores the files; those that an embed shows (`attachment://name`) move into the embed, as on Discord. */
export function attachFiles(
  world: World,
  message: LocalMessage,
  files: readonly UploadedFile[],
  embeds: APIEmbed[],
): void {
  const stored = files.map((file) => storeFile(world, message.channel, file, message.ephemeral));
  const shown = new Set<LocalAttachment>();
  message.embeds = embeds.map((embed) => resolveEmbed(embed, [...message.attachments, ...stored], shown));
  message.attachments = [...message.attachments, ...stored].filter((file) => !shown.has(file));
}

function resolveEmbed(embed: APIEmbed, files: LocalAttachment[], shown: Set<LocalAttachment>): APIEmbed {
  const locate = (url: string): string => {
    if (!url.startsWith(SCHEME)) return url;
    const file = files.find((one) => one.filename === url.slice(SCHEME.length));
    if (!file) return url;
    shown.add(file);
    return file.url;
  };
  return {
    ...embed,
    type: EmbedType.Rich,
    ...(embed.image ? { image: { ...embed.image, url: locate(embed.image.url) } } : {}),
    ...(embed.thumbnail ? { thumbnail: { ...embed.thumbnail, url: locate(embed.thumbnail.url) } } : {}),
  };
}
