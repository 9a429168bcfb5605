import { type Clock, UserError } from '@cinnabar/sdk';
import type { Attachment } from 'discord.js';
import { MOST_FILE_BYTES } from './read.js';

export interface DownloadParts {
  /** REST base in use: the server that stands in for Discord has its files there, too. */
  readonly api: string | undefined;
  readonly clock: Pick<Clock, 'after'>;
  readonly signal: AbortSignal;
  /** How many bytes there may be; by default as many as a card may have. */
  readonly most?: number;
}

const HOSTS: ReadonlySet<string> = new Set(['cdn.discordapp.com', 'media.discordapp.net']);
const TIMEOUT_MS = 15_000;
const TOO_LARGE = `This file is too large: a character card has at most ${MOST_FILE_BYTES / 1024 / 1024} MB.`;
const GONE = 'This file cannot be fetched from Discord at the moment. Please try again.';

/** Fetches what somebody attached, from Discord's own hosts alone. @throws UserError */
export async function download({ url, size }: Pick<Attachment, 'url' | 'size'>, parts: DownloadParts): Promise<Buffer> {
  const { most = MOST_FILE_BYTES } = parts;
  if (size > most) throw new UserError(TOO_LARGE);
  if (!isDiscords(new URL(url), parts.api)) throw new UserError('I only read files that are attached on Discord.');
  const controller = new AbortController();
  const abort = () => controller.abort();
  const cancel = parts.clock.after(TIMEOUT_MS, abort);
  parts.signal.addEventListener('abort', abort);
  try {
    const response = await fetch(url, { redirect: 'error', credentials: 'omit', signal: controller.signal });
    if (!response.ok || response.body === null) throw new UserError(GONE);
    return await readLimited(response.body, most);
  } catch (error) {
    throw error instanceof UserError ? error : new UserError(GONE, { cause: error });
  } finally {
    cancel();
    parts.signal.removeEventListener('abort', abort);
  }
}

function isDiscords(url: URL, api: string | undefined): boolean {
  if (HOSTS.has(url.host)) return url.protocol === 'https:';
  return api !== undefined && URL.canParse(api) && new URL(api).origin === url.origin;
}

/** Counts while it reads: what was announced is no promise. */
async function readLimited(body: ReadableStream<Uint8Array>, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > most) throw new UserError(TOO_LARGE);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
