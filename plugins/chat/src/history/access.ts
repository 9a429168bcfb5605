import { type Access, type Actor, type Clock, isUnknown, type Logger, maxEntries } from '@cinnabar/sdk';
import { ChannelType, type Guild, type GuildMember, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import { LRUCache } from 'lru-cache';
import type { Ask } from './ask.js';

/** Why a channel cannot be read on its readers' behalf; `undefined` when it can. */
type Refusal = 'bot' | 'reader' | undefined;

/** Only what the bot and every reader may read: a model must not tell people what they could not see. */
export async function refusalFor(
  channel: SendableChannels,
  readers: readonly Actor[],
  access: Pick<Access, 'mayEnter'>,
  ask: Ask,
): Promise<Refusal> {
  const at = { guildId: channel.isDMBased() ? null : channel.guildId, channelId: channel.id };
  if (readers.some(({ guildId }) => at.guildId !== guildId)) return 'reader';
  if (!mayBotRead(channel)) return 'bot';
  for (const reader of readers) {
    const mayEnter = () => access.mayEnter(reader, at, ['ReadMessageHistory']);
    // As a rule it costs no request, and then counts as none.
    if (!(await mayEnter().catch(() => ask(mayEnter)))) return 'reader';
  }
  return undefined;
}

/**
 * Looks up the authors of old messages, with as few requests as possible: discord.js's cache first, and a missing author is not requested again and
 * again. What one who asks may read is for the host to say (`Access.mayEnter`).
 */
export interface Members {
  /** `undefined` when the guild has no such member, or Discord does not say. */
  find(guild: Guild, userId: string, ask: Ask): Promise<GuildMember | undefined>;
}

const REMEMBERED = 5_000;
const ABSENCE_MS = 10 * 60_000;

export function createMembers(clock: Clock, log: Logger): Members {
  const perf = { now: () => clock.now() };
  const absent = new LRUCache<string, true>({ ...maxEntries(REMEMBERED), ttl: ABSENCE_MS, ttlResolution: 0, perf });

  return {
    async find(guild, userId, ask) {
      const known = guild.members.cache.get(userId);
      if (known !== undefined && !known.partial) return known;
      const key = `${guild.id}/${userId}`;
      if (absent.has(key)) return undefined;
      try {
        return await ask(() => guild.members.fetch({ user: userId, force: true }));
      } catch (error) {
        if (isUnknown(error)) absent.set(key, true);
        else log.warn('a member could not be looked up', { error, guildId: guild.id, userId });
        return undefined;
      }
    },
  };
}

const { ViewChannel, ReadMessageHistory, Connect } = PermissionFlagsBits;

/** Whether the bot may read a channel: always in a direct message. */
export function mayBotRead(channel: SendableChannels): boolean {
  if (channel.isDMBased()) return true;
  const { me } = channel.guild.members;
  const mine = me === null ? null : channel.permissionsFor(me);
  // Text in voice channels is for those who may join them.
  const needed = ViewChannel | ReadMessageHistory | (channel.isVoiceBased() ? Connect : 0n);
  if (mine === null || !mine.has(needed)) return false;
  if (channel.type !== ChannelType.PrivateThread) return true;
  return channel.joined || mine.has(PermissionFlagsBits.ManageThreads);
}
