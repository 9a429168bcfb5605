import type { APIAttachment } from 'discord-api-types/v10';
import type { LocalAttachment } from '../state/attachment.js';

export function attachmentPayload(file: LocalAttachment): APIAttachment {
  return {
    id: file.id,
    filename: file.filename,
    size: file.size,
    url: file.url,
    proxy_url: file.url,
    content_type: file.contentType,
    ...(file.description === undefined ? {} : { description: file.description }),
    ...(file.ephemeral ? { ephemeral: true } : {}),
  };
}
