import { attachmentDownloads, downloadAttachment, t, UserError } from '@cinnabar/sdk';
import type { Attachment } from 'discord.js';
import type { AdminContext } from './context.js';

const MOST_KB = 100;

/** The text of a file that was sent with a command. @throws UserError when it cannot be had, or is too large */
export async function attachedText(context: AdminContext, file: Attachment): Promise<string> {
  const { client, log, signal, services } = context;
  const downloads = attachmentDownloads(client, { clock: services.clock, log, signal });
  const content = await downloadAttachment(new URL(file.url), { ...downloads, maxBytes: MOST_KB * 1_000 });
  if (typeof content !== 'string') return content.toString('utf8');
  throw new UserError(
    content === 'final'
      ? t('The file cannot be read, or has more than {limit} kB.', { limit: MOST_KB })
      : t('Discord did not hand over the file. Please try again.'),
  );
}
