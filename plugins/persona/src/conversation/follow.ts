import type { Logger, Registrar } from '@cinnabar/sdk';
import type { Memories } from '../memory/types.js';
import type { ConversationStore } from './store.js';

export interface FollowParts extends Pick<Registrar, 'on'> {
  readonly conversations: ConversationStore;
  readonly memories: Pick<Memories, 'messageDeleted' | 'messageEdited' | 'channelDeleted'>;
  readonly log: Logger;
}

/** What is deleted or edited on Discord is deleted and edited here: in the conversation, its summary and the memories. */
export function followChanges({ on, conversations, memories }: FollowParts): void {
  const gone = async (guildId: string | null, channelId: string, messageIds: readonly string[]) => {
    await conversations.forgetMessages(channelId, messageIds);
    await memories.messageDeleted(messageIds.map((messageId) => ({ guildId, channelId, messageId })));
  };
  on('messageDelete', ({ guildId, channelId, id }) => gone(guildId, channelId, [id]));
  on('messageDeleteBulk', (messages, channel) => gone(channel.guildId, channel.id, [...messages.keys()]));
  on('messageUpdate', async (old, { guildId, channelId, id, content, author }) => {
    // Discord also sends this when an embed has been loaded, or a message pinned.
    if (author.bot || (!old.partial && old.content === content)) return;
    await conversations.edit(channelId, id, content);
    await memories.messageEdited({ guildId, channelId, messageId: id }, content);
  });
  on('channelDelete', async (channel) => {
    await conversations.clear(channel.id);
    if (!channel.isDMBased()) await memories.channelDeleted(channel.guildId, channel.id);
  });
  on('threadDelete', async ({ id, guildId }) => {
    await conversations.clear(id);
    await memories.channelDeleted(guildId, id);
  });
}
