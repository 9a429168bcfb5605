import { type DownloadOptions, downloadAttachment, UserError } from '@cinnabar/sdk';
import type { Attachment } from 'discord.js';
import { MOST_FILE_BYTES } from './read.js';

const TOO_LARGE = `This file is too large: a character card has at most ${MOST_FILE_BYTES / 1024 / 1024} MB.`;
const GONE = 'This file cannot be fetched from Discord at the moment. Please try again.';

/** Fetches the file of a character card. @throws UserError */
export async function downloadCard(
  { url, size }: Pick<Attachment, 'url' | 'size'>,
  options: Omit<DownloadOptions, 'maxBytes' | 'cut'>,
): Promise<Buffer> {
  if (size > MOST_FILE_BYTES) throw new UserError(TOO_LARGE);
  const address = new URL(url);
  if (!options.mayFetch(address)) throw new UserError('I only read files that are attached on Discord.');
  const bytes = await downloadAttachment(address, { ...options, maxBytes: MOST_FILE_BYTES });
  if (typeof bytes === 'string') throw new UserError(GONE);
  return bytes;
}
