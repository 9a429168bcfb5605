import {
  type Collection,
  createKeyedMutex,
  type PersonaEvent,
  type PersonaPlace,
  textMessages,
  z,
} from '@cinnabar/sdk';
import { type AnyThreadChannel, ChannelType, type Client, type SendableChannels } from 'discord.js';
import type { PersonaContext } from '../context.js';

/** The thread of each channel in which thoughts can be read. To be declared among the plugin's collections. */
export const thoughtThreads = { scope: 'channel', version: 1, schema: z.object({ threadId: z.string() }) } as const;

type Threads = Collection<{ threadId: string }, 'channel'>;

/** Shows thoughts in a thread, where a guild has chosen that. @returns stops it */
export function showThoughts(threads: Threads, persona: PersonaContext): () => void {
  const { background, hub, settingsFor, client, signal } = persona;
  const inOrder = createKeyedMutex();
  const show = async ({ channelId, guildId }: PersonaPlace, thought: string) => {
    if (signal.aborted || guildId === null || (await settingsFor(guildId)).thoughts !== 'thread') return;
    const channel = client.channels.cache.get(channelId);
    const thread = channel?.isSendable() === true ? await threadOf(channel, threads, client) : undefined;
    for (const message of textMessages(thought)) await thread?.send({ ...message, allowedMentions: { parse: [] } });
  };
  return hub.subscribe({}, (event: PersonaEvent) => {
    if (event.type !== 'text' || !event.isThought) return;
    background.run('showing a thought', () => inOrder.run(event.channelId, () => show(event, event.content)));
  });
}

async function threadOf(
  channel: SendableChannels,
  threads: Threads,
  client: Client,
): Promise<AnyThreadChannel | undefined> {
  if (channel.type !== ChannelType.GuildText) return undefined;
  const known = await knownThread(client, (await threads.of(channel.id).find())?.threadId);
  if (known !== undefined) return known;
  const thread = await channel.threads.create({ name: 'Thoughts', type: ChannelType.PublicThread });
  await threads.of(channel.id).set({ threadId: thread.id });
  return thread;
}

async function knownThread(client: Client, threadId: string | undefined): Promise<AnyThreadChannel | undefined> {
  if (threadId === undefined) return undefined;
  const channel = await client.channels.fetch(threadId).catch(() => null);
  return channel?.isThread() === true ? channel : undefined;
}
