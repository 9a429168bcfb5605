import type { Commands, PersonaPlace, Prefixes, Registrar } from '@cinnabar/sdk';
import { isCorrection } from '../memory/source-changes.js';
import type { Memories, MessageRef } from '../memory/types.js';
import type { TraceStore } from '../running/trace.js';
import type { PersonaStore } from '../state/persona-store.js';
import { spokenText } from './catch-up.js';
import type { ConversationStore } from './conversation-store.js';

export interface ChangeParts {
  readonly conversations: ConversationStore;
  readonly memories: Pick<Memories, 'messageDeleted' | 'messageEdited'>;
  readonly traces: Pick<TraceStore, 'forgetMessages' | 'forgetEverywhere'>;
  readonly store: Pick<PersonaStore, 'forgetMessages'>;
  readonly commands: Pick<Commands, 'matches'>;
}

/** What was said in these messages goes, and all that was made of it. */
export async function followDeletion(
  { guildId, channelId }: PersonaPlace,
  messageIds: readonly string[],
  { conversations, memories, traces, store }: ChangeParts,
): Promise<void> {
  if (messageIds.length === 0) return;
  await conversations.forgetMessages(channelId, messageIds);
  await traces.forgetMessages(channelId, messageIds);
  await store.forgetMessages({ guildId, channelId }, messageIds);
  const learned = await memories.messageDeleted(messageIds.map((messageId) => ({ guildId, channelId, messageId })));
  if (learned > 0) await traces.forgetEverywhere({ messageIds });
}

/** A message may read otherwise now. @param text what a person says in it; `undefined` when that is nothing to a conversation any more */
export async function followEdit(ref: MessageRef, text: string | undefined, parts: ChangeParts): Promise<void> {
  const { channelId, messageId } = ref;
  if (text === undefined) return followDeletion(ref, [messageId], parts);
  // Discord tells of messages anew for many reasons.
  const edited = await parts.conversations.edit(channelId, messageId, text);
  if (edited === undefined) return;
  const { before } = edited;
  const learned = await parts.memories.messageEdited(ref, text, before);
  // After a correction of how it is written, what came of it is still what was said.
  if (before !== undefined && isCorrection(before, text)) return;
  await parts.traces.forgetMessages(channelId, [messageId]);
  await parts.store.forgetMessages(ref, [messageId]);
  if (learned > 0) await parts.traces.forgetEverywhere({ messageIds: [messageId] });
}

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
