import type { Registrar } from '@cinnabar/sdk';
import type { Message, SendableChannels } from 'discord.js';

const PAGE = 100;

/** Reads the last messages of a channel. */
export interface History {
  /** Complete messages, oldest first, at most `count`. */
  read(channel: SendableChannels, count: number): Promise<readonly Message[]>;
}

interface Known {
  /** From this message on the cache has no gaps. */
  readonly from: string;
  /** Whether nothing is older. */
  readonly whole: boolean;
}

/**
 * Fetches a channel's history over REST the first time, then takes it from discord.js's cache, which the gateway keeps.
 * A new gateway session may have missed messages: then every channel is fetched again.
 */
export function createHistory({ on }: Pick<Registrar, 'on'>): History {
  const known = new Map<string, Known>();
  on('shardReady', () => known.clear());
  on('channelDelete', (channel) => known.delete(channel.id));
  on('threadDelete', (thread) => known.delete(thread.id));

  const cached = (channel: SendableChannels, from: string) =>
    [...channel.messages.cache.values()].filter((message) => !message.partial && byId(message, { id: from }) >= 0);

  return {
    async read(channel, count) {
      const before = known.get(channel.id);
      if (before !== undefined) {
        const messages = cached(channel, before.from);
        if (before.whole || messages.length >= count) return messages.sort(byId).slice(-count);
      }
      const fetched = await fetchLast(channel, count);
      const whole = fetched.length < count;
      const from = whole ? '0' : (fetched.at(-1)?.id ?? '0');
      known.set(channel.id, { from, whole });
      const all = new Map([...fetched, ...cached(channel, from)].map((message) => [message.id, message]));
      return [...all.values()].sort(byId).slice(-count);
    },
  };
}

/** Orders by snowflake, the older first: a longer number is a later one. */
export function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  if (a.id === b.id) return 0;
  return (a.id.length - b.id.length || (a.id < b.id ? -1 : 1)) < 0 ? -1 : 1;
}

/** Newest first. */
async function fetchLast(channel: SendableChannels, count: number): Promise<readonly Message[]> {
  const messages: Message[] = [];
  while (messages.length < count) {
    const limit = Math.min(PAGE, count - messages.length);
    const before = messages.at(-1)?.id;
    const page = await channel.messages.fetch({ limit, ...(before === undefined ? {} : { before }) });
    messages.push(...[...page.values()].sort((a, b) => byId(b, a)));
    if (page.size < limit) break;
  }
  return messages;
}
