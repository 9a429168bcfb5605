import type { Batch, RelayEvent } from '../types.js';
import { attachmentsOf, chainOf, QUOTING, type Reader, rolesOf, spoken, timeOf, toldOf } from './parts.js';
import { whereLines } from './server.js';

/** Several messages of one channel that have come while the agent was busy: each with its author, id and time. */
export function severalMessages(batch: Batch, reader: Reader): readonly string[] {
  const [first] = batch;
  const isDirect = first.guildId === null;
  const authors = new Set(
    batch.flatMap(({ facts: { author } }) => (author === null ? [] : `${author.displayName} (${author.id})`)),
  );
  const from = authors.size === 0 ? '' : ` from ${[...authors].join(', ')}`;
  const what = isDirect ? 'direct messages' : 'messages, mentions or replies';
  const place = isDirect
    ? [`**Channel (DM) ID:** ${first.facts.channel.id}`]
    : [['**Context:**', ...whereLines(first)].join('\n')];
  return [
    `You received ${batch.length} ${what} on Discord${from}`,
    ...place,
    ...batch.flatMap((event) => chainOf(event, reader, titleOf(event))),
    ['**Current Messages (oldest first):**', ...batch.map((event) => one(event, reader))].join('\n'),
    ...batch.flatMap(attachmentsOf),
    QUOTING,
  ];
}

function titleOf({ kind, facts: { messageId } }: RelayEvent): string {
  return kind === 'digest'
    ? '**Latest Messages of the Digest:**'
    : `**Reply Thread of Message ${messageId ?? 'none'}:**`;
}

const MANNER: Readonly<Partial<Record<RelayEvent['kind'], string>>> = {
  message: ', not said to you',
  reaction: ', reactions to your message',
};

function one(event: RelayEvent, reader: Reader): string {
  const { author, messageId, at } = event.facts;
  const content = toldOf(event);
  const time = timeOf(at);
  if (author === null) return spoken(`- ${event.kind === 'digest' ? 'Digest' : 'Wake-up'} (${time})`, content, reader);
  const roles = event.guildId === null ? '' : `, Roles: ${rolesOf(author)}`;
  const id = messageId === null ? '' : `, Message ID: ${messageId}`;
  const label = `- ${author.displayName} (User ID: ${author.id}${roles}${id}, ${time}${MANNER[event.kind] ?? ''})`;
  return spoken(label, content, reader);
}
