import { signed } from '../rules/signed-links.js';
import type { LocalAttachment, UploadedFile } from '../state/attachment.js';
import type { LocalChannel } from '../state/channel.js';
import type { World } from '../state/world.js';

const TYPES: Readonly<Record<string, string>> = {
  txt: 'text/plain; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  html: 'text/html; charset=utf-8',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  pdf: 'application/pdf',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  mp4: 'video/mp4',
  zip: 'application/zip',
};

/** Keeps a file and gives it an address on the CDN. */
export function storeFile(
  world: World,
  channel: LocalChannel,
  file: UploadedFile,
  ephemeral: boolean,
): LocalAttachment {
  const id = world.nextId();
  const filename = safeName(file.name);
  const path = `/${ephemeral ? 'ephemeral-attachments' : 'attachments'}/${channel.id}/${id}/${filename}`;
  const attachment: LocalAttachment = {
    id,
    filename,
    size: file.data.byteLength,
    data: file.data,
    contentType: contentTypeOf(filename, file.contentType),
    // Signed each time it is shown.
    get url() {
      return signed(world, path);
    },
    description: file.description,
    ephemeral,
  };
  world.files.set(path, attachment);
  return attachment;
}

/** Discord replaces what does not belong in a file name. */
function safeName(name: string): string {
  const cleaned = name.replace(/\s+/g, '_').replace(/[^\p{L}\p{N}_.-]/gu, '');
  return cleaned === '' || /^\.+$/.test(cleaned) ? 'unnamed' : cleaned;
}

function contentTypeOf(filename: string, sent: string | undefined): string {
  const extension = filename.slice(filename.lastIndexOf('.') + 1).toLowerCase();
  return TYPES[extension] ?? (sent || 'application/octet-stream');
}
