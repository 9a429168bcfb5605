import type { EventKind, RelayEvent } from '../types.js';
import { attachmentsOf, authorOf, chainOf, QUOTING, type Reader, rolesOf, spoken, timeOf } from './parts.js';

interface Wording {
  readonly opening: string;
  readonly by: string;
  readonly current: string;
}

const ADDRESSED: Wording = {
  opening: 'You received a mention or reply on Discord from',
  by: 'Mentioned by',
  current: "**Current Message (the mention you're responding to):**",
};
const WORDING: Readonly<Partial<Record<EventKind, Wording>>> = {
  thread: {
    opening: 'You received the first message in a thread that you started on Discord from',
    by: 'Written by',
    current: "**Current Message (the message you're responding to):**",
  },
  message: {
    opening: 'You received a message on Discord, which was not said to you, from',
    by: 'Written by',
    current: '**Current Message (respond only if you have something to add):**',
  },
};

/** Where it happens; the same for every event of a channel. */
export function whereLines({ facts: { guild, channel } }: RelayEvent): readonly string[] {
  const server = guild === null ? [] : [`- Server: ${guild.name}`, `- Server ID: ${guild.id}`];
  return [...server, `- Channel: #${channel.name} (ID: ${channel.id})`];
}

/** One message in a server, with where it was said and by whom. */
export function serverMessage(event: RelayEvent, reader: Reader): readonly string[] {
  const author = authorOf(event);
  const { messageId, at, content } = event.facts;
  const { opening, by, current } = WORDING[event.kind] ?? ADDRESSED;
  const context = [
    '**Context:**',
    ...whereLines(event),
    `- ${by}: ${author.displayName} (${rolesOf(author)})`,
    `- Time: ${timeOf(at)}`,
    `- Message ID: ${messageId ?? 'none (it was said by a slash command)'}`,
  ];
  return [
    `${opening} ${author.displayName} (${author.id})`,
    context.join('\n'),
    ...chainOf(event, reader),
    `${current}\n${spoken(author.displayName, content, reader)}`,
    ...attachmentsOf(event),
    QUOTING,
  ];
}
