import type { Batch, RelayEvent } from '../types.js';
import { attachmentsOf, authorOf, chainOf, QUOTING, type Reader, rolesOf, spoken, timeOf } from './parts.js';
import { whereLines } from './server.js';

/** Several messages of one channel that have come while the agent was busy: each with its author, id and time. */
export function severalMessages(batch: Batch, reader: Reader): readonly string[] {
  const [first] = batch;
  const isDirect = first.guildId === null;
  const authors = new Map(
    batch.map((event) => [authorOf(event).id, `${authorOf(event).displayName} (${authorOf(event).id})`]),
  );
  const what = isDirect ? 'direct messages' : 'messages, mentions or replies';
  const place = isDirect
    ? [`**Channel (DM) ID:** ${first.facts.channel.id}`]
    : [['**Context:**', ...whereLines(first)].join('\n')];
  return [
    `You received ${batch.length} ${what} on Discord from ${[...authors.values()].join(', ')}`,
    ...place,
    ...batch.flatMap((event) => chainOf(event, reader, `**Reply Thread of Message ${event.facts.messageId}:**`)),
    ['**Current Messages (oldest first):**', ...batch.map((event) => one(event, reader))].join('\n'),
    ...batch.flatMap(attachmentsOf),
    QUOTING,
  ];
}

const MANNER: Readonly<Partial<Record<RelayEvent['kind'], string>>> = {
  message: ', not said to you',
  reaction: ', reactions',
  digest: ', digest',
  wake: ', wake-up',
};

function one(event: RelayEvent, reader: Reader): string {
  const author = authorOf(event);
  const roles = event.guildId === null ? '' : `, Roles: ${rolesOf(author)}`;
  const id = event.facts.messageId === null ? '' : `, Message ID: ${event.facts.messageId}`;
  const label = `- ${author.displayName} (User ID: ${author.id}${roles}${id}, ${timeOf(event.facts.at)}${MANNER[event.kind] ?? ''})`;
  return spoken(label, event.facts.content, reader);
}
