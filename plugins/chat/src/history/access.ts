import {
  type Access,
  type Actor,
  type Clock,
  isUnknown,
  type Logger,
  maxEntries,
  type RetryOptions,
  retryDiscord,
} from '@cinnabar/sdk';
import { ChannelType, type Guild, type GuildMember, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import { LRUCache } from 'lru-cache';

/** Why a channel cannot be read for these readers; `undefined` when it can. */
type Refusal = 'bot' | 'reader' | undefined;

/** Only messages that the bot and every reader may read are used, because a model must not pass them on to others. */
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
    // The check usually makes no request, so `ask`, which counts requests, is used only after it has failed.
    if (!(await mayEnter().catch(() => ask(mayEnter)))) return 'reader';
  }
  return undefined;
}

const { ViewChannel, ReadMessageHistory, Connect } = PermissionFlagsBits;

/** Whether the bot may read a channel; always in a direct message. */
export function mayBotRead(channel: SendableChannels): boolean {
  if (channel.isDMBased()) return true;
  const { me } = channel.guild.members;
  const mine = me === null ? null : channel.permissionsFor(me);
  // Text in voice channels is visible to members who may join them.
  const needed = ViewChannel | ReadMessageHistory | (channel.isVoiceBased() ? Connect : 0n);
  if (mine === null || !mine.has(needed)) return false;
  if (channel.type !== ChannelType.PrivateThread) return true;
  return channel.joined || mine.has(PermissionFlagsBits.ManageThreads);
}

/** Makes a request to Discord with retries. */
export type Ask = <T>(task: () => Promise<T>) => Promise<T>;

const FIRST_DELAY_MS = 1_000;
export const DEFAULT_BACKOFF_MAX_MS = 32_000;

export interface BackoffOptions {
  readonly clock: Clock;
  /** The longest delay; after it, one last attempt is made. */
  readonly maxMs: number;
  readonly log: Logger;
  /** Ends the retries; the task's last error is thrown. */
  readonly signal?: AbortSignal;
}

/** Retries after 1 s, 2 s, 4 s and so on up to `maxMs`, each with a warning in the log. */
export function retriesOf({ maxMs, log, signal }: BackoffOptions): RetryOptions {
  const pausesMs: number[] = [];
  for (let pauseMs = FIRST_DELAY_MS; pauseMs < maxMs; pauseMs *= 2) pausesMs.push(pauseMs);
  pausesMs.push(maxMs);
  const onRetry = (error: unknown, pauseMs: number) =>
    log.warn(`Discord did not answer; trying again in ${pauseMs / 1000} s`, { error });
  return { signal, pausesMs, onRetry };
}

/**
 * Retries a read or an edit that failed because of Discord or the network. Use `sendOnce` for a new message, which has the same delays.
 * @throws the task's last error, immediately when retrying cannot help
 * @example await withDiscordBackoff(() => channel.messages.fetch({ limit: 100 }), { clock, maxMs: 32_000, log });
 */
export function withDiscordBackoff<T>(task: () => Promise<T>, options: BackoffOptions): Promise<T> {
  return retryDiscord(options.clock, task, retriesOf(options));
}

const REMEMBERED = 5_000;
const ABSENCE_MS = 10 * 60_000;

export type Lookup = ReturnType<typeof createLookup>;

/** Looks up authors of old messages and linked channels with few requests: first in discord.js's cache; an absent one is requested only once. */
export function createLookup(clock: Clock, log: Logger) {
  const perf = { now: () => clock.now() };
  const absent = new LRUCache<string, true>({ ...maxEntries(REMEMBERED), ttl: ABSENCE_MS, ttlResolution: 0, perf });
  return {
    /** `undefined` when the guild has no such member, or Discord does not answer. */
    async member(guild: Guild, userId: string, ask: Ask): Promise<GuildMember | undefined> {
      const known = guild.members.cache.get(userId);
      if (known !== undefined && !known.partial) return known;
      const key = `${guild.id}/member/${userId}`;
      if (absent.has(key)) return undefined;
      try {
        return await ask(() => guild.members.fetch({ user: userId, force: true }));
      } catch (error) {
        if (isUnknown(error)) absent.set(key, true);
        else log.warn('a member could not be looked up', { error, guildId: guild.id, userId });
        return undefined;
      }
    },
    /** `undefined` when the guild has no such channel with messages, or the bot cannot see it. Archived threads are fetched. */
    async channel(guild: Guild, channelId: string, ask: Ask): Promise<SendableChannels | undefined> {
      const known = guild.channels.cache.get(channelId);
      if (known !== undefined) return known.isSendable() ? known : undefined;
      const key = `${guild.id}/channel/${channelId}`;
      if (absent.has(key)) return undefined;
      const fetched = await ask(() => guild.channels.fetch(channelId, { force: true })).catch(() => null);
      // Discord returns any channel that the bot can see, in any guild.
      if (fetched?.guild.id === guild.id && fetched.isSendable()) return fetched;
      absent.set(key, true);
      return undefined;
    },
  };
}
