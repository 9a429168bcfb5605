import type { RelayEvent } from '../types.js';
import { attachmentsOf, authorOf, chainOf, QUOTING, type Reader, timeOf, words } from './parts.js';

/** One direct message. */
export function directMessage(event: RelayEvent, reader: Reader): readonly string[] {
  const author = authorOf(event);
  const { channel, messageId, at, content } = event.facts;
  const head = [
    `**From:** ${author.displayName} (User ID: ${author.id})`,
    `**Channel (DM) ID:** ${channel.id}`,
    `**Time:** ${timeOf(at)}`,
    `**Message ID:** ${messageId ?? 'none (it was said by a slash command)'}`,
  ];
  return [
    'You received a direct message on Discord.',
    head.join('\n'),
    ...chainOf(event, reader),
    `**Current Message:**\n${words(content, reader)}`,
    ...attachmentsOf(event),
    QUOTING,
  ];
}
