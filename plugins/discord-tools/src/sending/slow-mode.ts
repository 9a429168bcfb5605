import { UserError } from '@cinnabar/sdk';
import { type Channel, SnowflakeUtil } from 'discord.js';
import type { Caller, Parts } from '../parts.js';
import { may } from '../reaching/may.js';
import { placeOf } from '../reaching/places.js';

/** Any of these lifts slow mode: https://support.discord.com/hc/en-us/articles/360016150952 */
const EXEMPT = ['ManageMessages', 'ManageChannels'] as const;

/** The bot is above slow mode, who asks is not: it holds between what is said for them. @throws UserError that says how long */
export async function requirePause(
  parts: Pick<Parts, 'access' | 'clock' | 'sent'>,
  caller: Caller,
  channel: Channel,
): Promise<void> {
  const seconds = 'rateLimitPerUser' in channel ? (channel.rateLimitPerUser ?? 0) : 0;
  if (seconds === 0) return;
  const latest = await parts.sent.latestFor(channel.id, caller.actor);
  if (latest === undefined) return;
  const leftMs = SnowflakeUtil.timestampFrom(latest) + seconds * 1000 - parts.clock.now();
  if (leftMs <= 0) return;
  for (const permission of EXEMPT) if (await may(parts, caller, placeOf(channel), [permission])) return;
  throw new UserError(`The channel is in slow mode; please wait ${Math.ceil(leftMs / 1000)} seconds.`);
}
