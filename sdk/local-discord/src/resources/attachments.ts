import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type APIEmbed, EmbedType } from 'discord-api-types/v10';
import { z } from 'zod';
import { route } from '../rest/request.js';
import type { LocalChannel } from '../state/channels.js';
import { attachmentAt, type LocalAttachment, type LocalMessage, type UploadedFile } from '../state/messages.js';
import type { World } from '../world.js';

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

/** Stores a file and assigns an address on the CDN. */
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
    // Signed each time it is returned.
    get url() {
      return signed(world, path);
    },
    description: file.description,
    ephemeral,
  };
  world.files.set(path, attachment);
  return attachment;
}

/** Discord replaces characters that are not allowed in a file name. */
function safeName(name: string): string {
  const cleaned = name.replace(/\s+/g, '_').replace(/[^\p{L}\p{N}_.-]/gu, '');
  return cleaned === '' || /^\.+$/.test(cleaned) ? 'unnamed' : cleaned;
}

function contentTypeOf(filename: string, sent: string | undefined): string {
  const extension = filename.slice(filename.lastIndexOf('.') + 1).toLowerCase();
  return TYPES[extension] ?? (sent || 'application/octet-stream');
}

/** Stores the files; a file that an embed shows (`attachment://name`) moves into the embed, as on Discord. */
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
    const file = attachmentAt(url, files);
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

const DAY_S = 86_400;

/** A link to a file, valid for a day. https://discord.com/developers/docs/reference#signed-attachment-cdn-urls */
function signed(world: World, path: string): string {
  const issued = Math.floor(world.clock.now() / 1_000);
  const [is, ex] = [hex(issued), hex(issued + DAY_S)];
  return `${world.addresses.cdn}${path}?${new URLSearchParams({ ex, is, hm: signatureOf(path, ex, is) })}&`;
}

/** Whether the CDN serves a file by this link: not after it has expired, and not if it was signed elsewhere. */
function isServed(world: World, path: string, link: URLSearchParams): boolean {
  const [ex = '', is = '', hm = ''] = ['ex', 'is', 'hm'].map((name) => link.get(name) ?? '');
  return hm === signatureOf(path, ex, is) && Number.parseInt(ex, 16) * 1_000 > world.clock.now();
}

function hex(seconds: number): string {
  return seconds.toString(16);
}

function signatureOf(path: string, ex: string, is: string): string {
  return createHash('sha256').update(`${path} ${ex} ${is}`).digest('hex');
}

/** Serves attachments. Their content is not trusted: a browser never renders them as a page of this origin. */
export function serveFile(world: World, response: ServerResponse, url: URL): void {
  const path = decodeURI(url.pathname).replace(/^\/cdn/, '');
  const file = world.files.get(path);
  if (!file || !isServed(world, path, url.searchParams)) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('This content is no longer available.');
    return;
  }
  response.writeHead(200, {
    'content-type': file.contentType,
    'content-length': file.data.byteLength,
    'content-disposition': 'attachment',
    'x-content-type-options': 'nosniff',
  });
  response.end(file.data);
}

const form = z.object({ attachment_urls: z.array(z.string()).min(1).max(50) });

export const attachmentRoutes = [
  route('POST', '/attachments/refresh-urls', ({ world, form: read }) => ({
    refreshed_urls: read(form).attachment_urls.map((original) => {
      const path = URL.canParse(original) ? decodeURI(new URL(original).pathname).replace(/^\/cdn/, '') : '';
      return { original, refreshed: world.files.has(path) ? signed(world, path) : null };
    }),
  })),
];
