import type { PersonaPlace } from '@cinnabar/sdk';
import type { Author } from '../state/store.js';
import type { CommandParts } from './parts.js';

/** Forgets what was said in one channel, for good. @param seenId the newest message that is not to be looked at again */
export async function resetConversation(
  channelId: string,
  seenId: string,
  { conversations, traces }: Pick<CommandParts, 'conversations' | 'traces'>,
): Promise<void> {
  await conversations.clear(channelId, seenId);
  await traces.clear(channelId);
}

/** Deletes all that is remembered, and the traces of runs that had it in mind. */
export async function resetMemories(place: PersonaPlace, parts: CommandParts): Promise<void> {
  await parts.memories.clear(await parts.store.memoryPlace(place));
  await clearTraces(place, parts);
}

/** Puts all that is remembered out of mind, until the change is undone. */
export async function putAsideMemories(place: PersonaPlace, author: Author, parts: CommandParts): Promise<void> {
  const at = await parts.memories.setAsideAll(await parts.store.memoryPlace(place));
  if (at !== undefined) await parts.store.noteReset(place, author, { memoriesAt: at });
  await clearTraces(place, parts);
}

async function clearTraces(place: PersonaPlace, parts: CommandParts): Promise<void> {
  for (const channelId of await channelsOf(place, await parts.traces.channels(), parts)) {
    await parts.traces.clear(channelId);
  }
}

/** Deletes the persona, what it remembers, and what was said in all its channels. */
export async function resetEverywhere(
  place: PersonaPlace,
  seenIn: (channelId: string) => string,
  parts: CommandParts,
): Promise<void> {
  await resetMemories(place, parts);
  for (const channelId of await everyConversation(place, parts)) {
    await resetConversation(channelId, seenIn(channelId), parts);
  }
  await parts.store.wipe(place);
}

/** The channels in which the persona has heard something. */
export async function everyConversation(place: PersonaPlace, parts: CommandParts): Promise<readonly string[]> {
  return channelsOf(place, await parts.conversations.channels(), parts);
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
