import type { Message } from 'discord.js';
import { prefixEnd } from '../parser/prefix.js';
import { skipSpace, skipWord } from '../parser/space.js';
import type { CommandRoomParts } from '../parts.js';
import type { Entry } from '../registry/entry.js';
import type { Registry } from '../registry/registry.js';

/** A message that begins like a command. */
export interface Recognised {
  /** `undefined` when there is no such command, or none that is enabled here. */
  readonly entry: Entry | undefined;
  readonly prefix: string;
  /** The first word after the prefix, in lower case. */
  readonly word: string;
  /** The index after that word. */
  readonly end: number;
}

type Parts = Pick<CommandRoomParts, 'client' | 'prefixes' | 'enabledIn'>;

/** Builds the test that every message passes: a look at its author and first characters, then one map look-up. */
export function createRecogniser({ client, prefixes, enabledIn }: Parts, registry: Registry) {
  const entryCalled = (word: string, guildId: string | null): Entry | undefined => {
    const entry = registry.find(word);
    if (entry === undefined || entry.surface === 'slash') return undefined;
    return enabledIn(guildId, entry.owner.plugin) ? entry : undefined;
  };

  return (message: Message): Recognised | undefined => {
    if (message.author.bot || client.user === null) return undefined;
    const { content, guildId } = message;
    const afterPrefix = prefixEnd(content, prefixes(guildId), client.user.id);
    if (afterPrefix === 0 || message.system) return undefined;
    const start = skipSpace(content, afterPrefix);
    const end = skipWord(content, start);
    if (start === end) return undefined;
    // A mention names this bot, whatever it replies to.
    if (!content.startsWith('<@') && isForAnotherBot(message, client.user.id)) return undefined;
    const word = content.slice(start, end).toLowerCase();
    return { entry: entryCalled(word, guildId), prefix: content.slice(0, afterPrefix), word, end };
  };
}

/** Bots of one server may share a prefix: a command in reply to a bot's message is for that bot. Webhooks are no bots. */
function isForAnotherBot({ reference, mentions, channel }: Message, ownId: string): boolean {
  const { repliedUser } = mentions;
  if (reference?.messageId === undefined || repliedUser?.bot !== true || repliedUser.id === ownId) return false;
  return channel.messages.cache.get(reference.messageId)?.webhookId == null;
}
