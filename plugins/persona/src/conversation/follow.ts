import type { Commands, Prefixes, Registrar } from '@cinnabar/sdk';
import type { Memories } from '../memory/types.js';
import type { TraceStore } from '../running/trace.js';
import { spokenText } from './catch-up.js';
import type { ConversationStore } from './store.js';

export interface FollowParts extends Pick<Registrar, 'on'> {
  readonly conversations: ConversationStore;
  readonly memories: Pick<Memories, 'messageDeleted' | 'messageEdited' | 'channelDeleted'>;
  readonly traces: Pick<TraceStore, 'forgetMessages' | 'clear'>;
  readonly commands: Pick<Commands, 'matches'>;
  readonly prefixes: Pick<Prefixes, 'get'>;
}

/** What is deleted or edited on Discord is deleted and edited here: in the conversation, its summary and the memories. */
export function followChanges({ on, conversations, memories, traces, commands, prefixes }: FollowParts): void {
  const gone = async (guildId: string | null, channelId: string, messageIds: readonly string[]) => {
    await conversations.forgetMessages(channelId, messageIds);
    await traces.forgetMessages(channelId, messageIds);
    await memories.messageDeleted(messageIds.map((messageId) => ({ guildId, channelId, messageId })));
  };
  on('messageDelete', ({ guildId, channelId, id }) => gone(guildId, channelId, [id]));
  on('messageDeleteBulk', (messages, channel) => gone(channel.guildId, channel.id, [...messages.keys()]));
  on('messageUpdate', async (old, message) => {
    const { guildId, channelId, id, content, author } = message;
    // Discord also sends this when an embed has been loaded, or a message pinned.
    if (author.bot || (!old.partial && old.content === content)) return;
    const text = spokenText(message, prefixes.get(guildId), commands);
    if (text === undefined) return gone(guildId, channelId, [id]);
    await conversations.edit(channelId, id, text);
    await traces.forgetMessages(channelId, [id]);
    await memories.messageEdited({ guildId, channelId, messageId: id }, text);
  });
  on('channelDelete', async (channel) => {
    await conversations.clear(channel.id);
    await traces.clear(channel.id);
    if (!channel.isDMBased()) await memories.channelDeleted(channel.guildId, channel.id);
  });
  on('threadDelete', async ({ id, guildId }) => {
    await conversations.clear(id);
    await traces.clear(id);
    await memories.channelDeleted(guildId, id);
  });
}
