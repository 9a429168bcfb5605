import { UserError } from '@cinnabar/sdk';
import type { Guild, GuildBasedChannel } from 'discord.js';
import type { Caller, Parts } from '../parts.js';
import { type ReadableChannel, UNREACHABLE } from '../reaching/channels.js';
import { READING } from '../reaching/may.js';
import { findChannel } from '../reaching/places.js';
import { readChannel } from '../reaching/references.js';
import { channelsWith, requireOpen, seenGuild } from '../reaching/visible-channels.js';

/**
 * Where a search looks: in the channels that whoever calls can read and their open threads, or in the one that was named (for a forum,
 * its open posts). @throws UserError
 */
export async function channelsToSearch(
  parts: Parts,
  caller: Caller,
  guild: Guild | undefined,
  only: string | undefined,
): Promise<readonly ReadableChannel[]> {
  if (only !== undefined) return inChannel(parts, caller, guild, only);
  const seen = await seenGuild(parts, caller, guild, READING);
  const threads = await openThreads(parts, caller, seen.guild);
  return [...seen.channels, ...threads].flatMap((channel) => (channel.isTextBased() ? [channel] : []));
}

async function inChannel(parts: Parts, caller: Caller, guild: Guild | undefined, only: string) {
  const channel = await findChannel(parts.client, readChannel(only).channelId);
  const isThere = guild !== undefined && channel !== undefined && !channel.isDMBased() && channel.guildId === guild.id;
  const [readable] = isThere ? await channelsWith(parts, caller, [channel], READING) : [];
  if (readable === undefined || guild === undefined) throw new UserError(UNREACHABLE);
  await requireOpen(parts, caller, guild);
  if (readable.isTextBased()) return [readable];
  const posts = await openThreads(parts, caller, guild);
  return posts.flatMap((post) => (post.parentId === readable.id && post.isTextBased() ? [post] : []));
}

async function openThreads(parts: Parts, caller: Caller, guild: Guild): Promise<readonly GuildBasedChannel[]> {
  const { threads } = await guild.channels.fetchActiveThreads();
  return channelsWith(parts, caller, threads.values(), READING);
}
