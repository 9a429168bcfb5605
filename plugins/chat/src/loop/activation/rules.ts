import type { Clock, Collection } from '@cinnabar/sdk';
import { z } from '@cinnabar/sdk';
import type { Client, SendableChannels } from 'discord.js';
import { LRUCache } from 'lru-cache';
import type { BotConfig } from '../../config/schema.js';
import type { ConfigSource } from '../config-source.js';

/** When the bot answers what was not said to it, ready to be tested on a message. */
export interface Rules {
  readonly name: RegExp | undefined;
  /** Of all messages, 0 to 1. */
  readonly share: number;
  readonly botChainLength: number;
}

/** Channels whose pins change the rules: after a restart their pins are read before the first message is judged. */
export const pinnedRules = { scope: 'channel', version: 1, schema: z.object({ pinned: z.boolean() }) } as const;
export type PinnedRules = Collection<{ pinned: boolean }, 'channel'>;

export interface RuleBook {
  /** The rules as last known, at once; `undefined` when none are. */
  of(channelId: string): Rules | undefined;
  /** Whether they should be looked up again: settings and files may have changed. */
  isStale(channelId: string): boolean;
  /** Looks them up. Asks nothing of Discord, unless pins of the channel are known to matter. */
  refresh(channel: SendableChannels): Promise<Rules>;
  /** Something was pinned or unpinned in a channel, or its configuration is known anyway. */
  readPins(channelId: string): void;
}

export interface RuleBookParts {
  readonly config: ConfigSource;
  readonly pinned: PinnedRules;
  readonly client: Client;
  readonly clock: Clock;
}

const REMEMBERED = 20_000;
const FRESH_MS = 10_000;

export async function openRuleBook({ config, pinned, client, clock }: RuleBookParts): Promise<RuleBook> {
  const known = new LRUCache<string, { readonly rules: Rules; readonly at: number }>({ max: REMEMBERED });
  const withPins = new Set<string>();
  for await (const [channelId] of pinned.entries()) withPins.add(channelId);

  const rememberPins = async (channelId: string, matter: boolean) => {
    if (matter) await pinned.of(channelId).set({ pinned: true });
    else {
      withPins.delete(channelId);
      if ((await pinned.of(channelId).find()) !== undefined) await pinned.of(channelId).delete();
    }
  };

  return {
    of: (channelId) => known.get(channelId)?.rules,
    isStale: (channelId) => clock.now() - (known.peek(channelId)?.at ?? 0) > FRESH_MS,
    async refresh(channel) {
      const guildId = channel.isDMBased() ? null : channel.guild.id;
      const botName = (guildId === null ? null : client.guilds.cache.get(guildId)?.members.me?.displayName) ?? '';
      const general = compile((await config.forGuild(guildId)).config, botName);
      let rules = general;
      if (withPins.has(channel.id)) {
        rules = compile((await config.forChannel(channel)).config, botName);
        await rememberPins(channel.id, !isSame(general, rules));
      }
      known.set(channel.id, { rules, at: clock.now() });
      return rules;
    },
    readPins(channelId) {
      withPins.add(channelId);
      known.delete(channelId);
    },
  };
}

function compile(config: BotConfig, botName: string): Rules {
  const { replyOnName, replyOnRandom, botChainLength, innerName = botName } = config;
  return {
    name: replyOnName && innerName !== '' ? asWord(innerName) : undefined,
    share: replyOnRandom > 1 ? 1 / replyOnRandom : replyOnRandom,
    botChainLength,
  };
}

/** Not as a part of another word, in any script. */
function asWord(name: string): RegExp {
  const literal = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`, 'iu');
}

function isSame(a: Rules, b: Rules): boolean {
  return a.name?.source === b.name?.source && a.share === b.share && a.botChainLength === b.botChainLength;
}
