import type { Prefixes, Registrar } from '@cinnabar/sdk';
import type { Memories } from '../memory/types.js';
import type { TraceStore } from '../running/trace.js';
import { type ChangeParts, followDeletion, followEdit } from './changes.js';
import { spokenText } from './spoken.js';

export interface FollowParts extends ChangeParts, Pick<Registrar, 'on'> {
  readonly memories: ChangeParts['memories'] & Pick<Memories, 'channelDeleted' | 'clear'>;
  readonly traces: ChangeParts['traces'] & Pick<TraceStore, 'clear'>;
  readonly prefixes: Pick<Prefixes, 'get'>;
  /** Lets go of the persona that lived in a channel alone. */
  forgetChannel(channelId: string): Promise<void>;
}

/** What is deleted or edited on Discord is deleted and edited here: in the conversation, its summary and the memories. */
export function followChanges(parts: FollowParts): void {
  const { on, conversations, memories, traces, commands, prefixes } = parts;
  on('messageDelete', ({ guildId, channelId, id }) => followDeletion({ guildId, channelId }, [id], parts));
  on('messageDeleteBulk', (messages, { guildId, id }) =>
    followDeletion({ guildId, channelId: id }, [...messages.keys()], parts),
  );
  on('messageUpdate', async (old, message) => {
    const { guildId, channelId, id, content, author, editedTimestamp } = message;
    // Discord also sends this when an embed has been loaded, or a message pinned.
    if (author.bot || editedTimestamp === null || (!old.partial && old.content === content)) return;
    const text = spokenText(message, prefixes.get(guildId), commands);
    await followEdit({ guildId, channelId, messageId: id }, text, parts);
  });
  on('channelDelete', async (channel) => {
    await conversations.clear(channel.id);
    await traces.clear(channel.id);
    await parts.forgetChannel(channel.id);
    if (channel.isDMBased()) return;
    await memories.channelDeleted(channel.guildId, channel.id);
    // What its own persona remembers, of threads too.
    await memories.clear({ mind: channel.id, guildId: channel.guildId, channelId: channel.id });
  });
  on('threadDelete', async ({ id, guildId }) => {
    await conversations.clear(id);
    await traces.clear(id);
    await memories.channelDeleted(guildId, id);
  });
}
