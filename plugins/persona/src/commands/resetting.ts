import type { PersonaPlace } from '@cinnabar/sdk';
import type { CommandParts } from './parts.js';

/** What was said in one channel. @param seenId the newest message that is not to be looked at again */
export async function resetConversation(
  channelId: string,
  seenId: string | undefined,
  { client, conversations, traces }: CommandParts,
): Promise<void> {
  const channel = client.channels.cache.get(channelId);
  const latest = channel?.isTextBased() === true ? channel.lastMessageId : null;
  await conversations.clear(channelId, seenId ?? latest ?? '0');
  await traces.clear(channelId);
}

/** All that is remembered, and the traces of runs that had it in mind. */
export async function resetMemories(place: PersonaPlace, parts: CommandParts): Promise<void> {
  await parts.memories.clear(await parts.store.memoryPlace(place));
  for (const channelId of await channelsOf(place, await parts.traces.channels(), parts)) {
    await parts.traces.clear(channelId);
  }
}

/** The persona, what it remembers, and what was said in all its channels. */
export async function resetEverywhere(
  place: PersonaPlace,
  seenId: string | undefined,
  parts: CommandParts,
): Promise<void> {
  await resetMemories(place, parts);
  for (const channelId of await channelsOf(place, await parts.conversations.channels(), parts)) {
    await resetConversation(channelId, channelId === place.channelId ? seenId : undefined, parts);
  }
  await parts.store.wipe(place);
}

/** Those in which the same persona lives, as far as Discord tells of them: not of threads that are archived. */
async function channelsOf(
  place: PersonaPlace,
  channelIds: readonly string[],
  { client, store }: CommandParts,
): Promise<readonly string[]> {
  const { id } = await store.home(place);
  const found: string[] = [place.channelId];
  for (const channelId of channelIds) {
    const channel = client.channels.cache.get(channelId);
    if (channelId === place.channelId || channel === undefined || channel.isDMBased()) continue;
    const { guildId } = channel;
    if (guildId === place.guildId && (await store.home({ guildId, channelId })).id === id) found.push(channelId);
  }
  return found;
}
