import type { Commands, PersonaPlace } from '@cinnabar/sdk';
import { isCorrection } from '../memory/revise.js';
import type { Memories, MessageRef } from '../memory/types.js';
import type { TraceStore } from '../running/trace.js';
import type { PersonaStore } from '../state/store.js';
import type { ConversationStore } from './store.js';

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
