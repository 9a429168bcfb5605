import type { Registrar } from '@cinnabar/sdk';
import type { MessageReaction, PartialMessageReaction, PartialUser, User } from 'discord.js';
import { emojiKey, isHistory, toHeld } from '../convert/message.js';
import type { Change } from '../store/journal.js';
import type { Logs } from '../store/logs.js';

/**
 * Keeps the logs up to date from the gateway's events. A message in a channel that nobody has read costs one look-up.
 * Everything comes from the events themselves: what discord.js has cached does not matter.
 */
export function listen(on: Registrar['on'], logs: Logs): void {
  const tell = (channelId: string, change: Change) => logs.apply(channelId, change);

  on('messageCreate', (message) => {
    const log = logs.peek(message.channelId);
    if (log === undefined) return;
    if (isHistory(message)) tell(message.channelId, { kind: 'created', id: message.id, held: toHeld(message) });
    else log.heardOf(message.id);
  });
  on('messageUpdate', (_old, message) => {
    const log = logs.peek(message.channelId);
    // Without content it is not an edit, only a change of something that history does not show.
    if (log === undefined || message.partial || !isHistory(message)) return;
    tell(message.channelId, { kind: 'updated', id: message.id, held: toHeld(message) });
  });
  on('messageDelete', ({ id, channelId }) => tell(channelId, { kind: 'deleted', id }));
  on('messageDeleteBulk', (messages, channel) => {
    for (const id of messages.keys()) tell(channel.id, { kind: 'deleted', id });
  });

  const onReaction = (reaction: MessageReaction | PartialMessageReaction, user: User | PartialUser, by: 1 | -1) => {
    const { id, channelId } = reaction.message;
    if (logs.peek(channelId) === undefined) return;
    const mine = user.id === user.client.user?.id;
    tell(channelId, { kind: 'reaction', id, key: emojiKey(reaction), name: reaction.emoji.name ?? '', by, mine });
  };
  on('messageReactionAdd', (reaction, user) => onReaction(reaction, user, 1));
  on('messageReactionRemove', (reaction, user) => onReaction(reaction, user, -1));
  on('messageReactionRemoveAll', ({ id, channelId }) => tell(channelId, { kind: 'unreacted', id }));
  on('messageReactionRemoveEmoji', (reaction) => {
    const { id, channelId } = reaction.message;
    tell(channelId, { kind: 'unreacted', id, key: emojiKey(reaction) });
  });
}
