import { inNote, type Logger, speakerId, withoutNotes } from '@cinnabar/sdk';
import type { Message } from 'discord.js';
import type { ChainLink, EventKind, RelayEvent } from '../types.js';
import { readReplyChain } from './chain.js';
import { attachmentFacts, authorFacts, namesOf, placeFacts } from './facts.js';

export interface MessageEventOptions {
  readonly kind: EventKind;
  readonly agent: string;
  /** How many messages of the reply chain are read. */
  readonly depth: number;
  /** What was said by a command: the message less its first words. */
  readonly said?: string;
  readonly log: Logger;
}

/** One event a message, whatever it is taken for. */
const MESSAGE = 'message:';
const COMMAND = 'command:';

/** What an agent is told of a message. */
export async function messageEvent(message: Message, options: MessageEventOptions): Promise<RelayEvent> {
  const chain = await readReplyChain(message, options.depth, options.log);
  const names = namesOf([...chain, message]);
  return {
    id: `${options.said === undefined ? MESSAGE : COMMAND}${message.id}`,
    kind: options.kind,
    agent: options.agent,
    guildId: message.guildId,
    channelId: message.channelId,
    userId: message.author.id,
    facts: {
      at: message.createdTimestamp,
      author: authorFacts(message.author, message.member, names.get(speakerId(message))),
      ...placeFacts(message.channel, message.guild),
      messageId: message.id,
      content: withoutNotes(options.said ?? message.content),
      chain: chain.map((link) => linkOf(link, names)),
      attachments: attachmentFacts(message),
    },
  };
}

/** Whether it was said by a command: then the message itself says more than the event does. */
export function isCommand({ id }: RelayEvent): boolean {
  return id.startsWith(COMMAND);
}

export function linkOf(message: Message, names: ReadonlyMap<string, string>): ChainLink {
  return {
    messageId: message.id,
    authorId: message.author.id,
    author: names.get(speakerId(message)) ?? message.author.id,
    content: contentOf(message),
    timestamp: message.createdAt.toISOString(),
    isBot: message.author.bot,
  };
}

/** What it says; where it says nothing, what it shows. */
function contentOf({ content, attachments, embeds, stickers }: Message): string {
  if (content !== '') return withoutNotes(content);
  const shown = [
    ...[...attachments.values()].map(({ name }) => `[file: ${inNote(name)}]`),
    ...embeds.map(({ title, description }) => `[embed: ${inNote(title ?? description ?? 'without text')}]`),
    ...[...stickers.values()].map(({ name }) => `[sticker: ${inNote(name)}]`),
  ];
  return shown.join(' ');
}
