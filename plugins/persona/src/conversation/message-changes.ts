import type { PersonaPlace, Registrar } from '@cinnabar/sdk';
import type { PersonaContext } from '../context.js';
import { isCorrection } from '../memory/source-changes.js';
import type { MessageRef } from '../memory/types.js';
import { spokenText } from './catch-up.js';

/** What was said in these messages goes, and all that was made of it. */
export async function followDeletion(
  { guildId, channelId }: PersonaPlace,
  messageIds: readonly string[],
  { conversations, memories, traces, store }: PersonaContext,
): Promise<void> {
  if (messageIds.length === 0) return;
  await conversations.forgetMessages(channelId, messageIds);
  await traces.forgetMessages(channelId, messageIds);
  await store.forgetMessages({ guildId, channelId }, messageIds);
  const learned = await memories.messageDeleted(messageIds.map((messageId) => ({ guildId, channelId, messageId })));
  if (learned > 0) await traces.forgetEverywhere({ messageIds });
}

/** A message may read otherwise now. @param text what a person says in it; `undefined` when that is nothing to a conversation any more */
export async function followEdit(ref: MessageRef, text: string | undefined, persona: PersonaContext): Promise<void> {
  const { channelId, messageId } = ref;
  if (text === undefined) return followDeletion(ref, [messageId], persona);
  // Discord sends updates of a message for many reasons.
  const edited = await persona.conversations.edit(channelId, messageId, text);
  if (edited === undefined) return;
  const { before } = edited;
  const learned = await persona.memories.messageEdited(ref, text, before);
  // After a correction of how it is written, what came of it is still what was said.
  if (before !== undefined && isCorrection(before, text)) return;
  await persona.traces.forgetMessages(channelId, [messageId]);
  await persona.store.forgetMessages(ref, [messageId]);
  if (learned > 0) await persona.traces.forgetEverywhere({ messageIds: [messageId] });
}

/** What is deleted or edited on Discord is deleted and edited here: in the conversation, its summary and the memories. */
export function followChanges(
  { on }: Pick<Registrar, 'on'>,
  persona: PersonaContext,
  /** Deletes the persona that lived in a channel alone. */
  forgetChannel: (channelId: string) => Promise<void>,
): void {
  const { conversations, memories, traces, commands, prefixes } = persona;
  on('messageDelete', ({ guildId, channelId, id }) => followDeletion({ guildId, channelId }, [id], persona));
  on('messageDeleteBulk', (messages, { guildId, id }) =>
    followDeletion({ guildId, channelId: id }, [...messages.keys()], persona),
  );
  on('messageUpdate', async (old, message) => {
    const { guildId, channelId, id, content, author, editedTimestamp } = message;
    // Discord also sends this when an embed has been loaded, or a message pinned.
    if (author.bot || editedTimestamp === null || (!old.partial && old.content === content)) return;
    const text = spokenText(message, prefixes.get(guildId), commands);
    await followEdit({ guildId, channelId, messageId: id }, text, persona);
  });
  on('channelDelete', async (channel) => {
    await conversations.clear(channel.id);
    await traces.clear(channel.id);
    await forgetChannel(channel.id);
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
