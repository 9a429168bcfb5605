import { isForPeopleOnly, type Logger } from '@cinnabar/sdk';
import { type Message, MessageReferenceType, PermissionFlagsBits } from 'discord.js';

/**
 * Follows the replies upwards from a message, as far as `depth` messages. Where one cannot be read (deleted, or Discord does not answer)
 * the chain starts after it, and the log says so. What no model may read is left out: notices of bots, dot messages.
 */
export async function readReplyChain(message: Message, depth: number, log: Logger): Promise<readonly Message[]> {
  const chain: Message[] = [];
  const seen = new Set([message.id]);
  let current = message;
  while (seen.size <= depth) {
    const parentId = parentOf(current);
    if (parentId === undefined || seen.has(parentId)) break;
    seen.add(parentId);
    const parent = await read(current, parentId, log);
    if (parent === undefined) break;
    if (!isForPeopleOnly(parent)) chain.unshift(parent);
    current = parent;
  }
  return chain;
}

/** What it replies to in the same channel. A forwarded message refers to another one without replying to it. */
function parentOf({ reference, channelId }: Message): string | undefined {
  if (reference === null || reference.type === MessageReferenceType.Forward) return undefined;
  if (reference.channelId !== channelId) return undefined;
  return reference.messageId;
}

async function read(reply: Message, parentId: string, log: Logger): Promise<Message | undefined> {
  const { channel, channelId } = reply;
  const known = channel.messages.cache.get(parentId);
  if (known !== undefined) return known;
  if (!mayReadHistory(reply)) {
    log.info('the reply chain is cut: the bot may not read the history of the channel', {
      channelId,
      messageId: reply.id,
    });
    return undefined;
  }
  try {
    return await channel.messages.fetch(parentId);
  } catch (error) {
    log.info('the reply chain is cut: a message cannot be read', { channelId, messageId: parentId, error });
    return undefined;
  }
}

function mayReadHistory({ channel }: Message): boolean {
  if (channel.isDMBased()) return true;
  const me = channel.guild.members.me;
  return me === null || channel.permissionsFor(me).has(PermissionFlagsBits.ReadMessageHistory);
}
