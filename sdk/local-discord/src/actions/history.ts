import { hasChannelPermission, requireInChannel } from '../rules/permissions.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalMessage } from '../state/message.js';
import { compareIds } from '../state/snowflake.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';

export interface HistoryRange {
  before?: string | undefined;
  after?: string | undefined;
  around?: string | undefined;
  limit: number;
}

/** Messages of a channel, newest first, as Discord pages them. Without ReadMessageHistory it is an empty list. @throws 50001 */
export function messageHistory(
  world: World,
  user: LocalUser,
  channel: LocalChannel,
  range: HistoryRange,
): LocalMessage[] {
  const now = world.clock.now();
  requireInChannel(channel, user, now);
  if (!hasChannelPermission(channel, user, now, 'ReadMessageHistory')) return [];
  const all = channel.messages.sort((a, b) => compareIds(a.id, b.id));
  return pick(all, range).reverse();
}

function pick(all: LocalMessage[], { before, after, around, limit }: HistoryRange): LocalMessage[] {
  if (around !== undefined) {
    const half = Math.floor(limit / 2);
    const older = all.filter((message) => compareIds(message.id, around) < 0).slice(-half || all.length);
    const rest = all.filter((message) => compareIds(message.id, around) >= 0).slice(0, limit - half);
    return [...(half === 0 ? [] : older), ...rest];
  }
  if (after !== undefined) return all.filter((message) => compareIds(message.id, after) > 0).slice(0, limit);
  const older = before === undefined ? all : all.filter((message) => compareIds(message.id, before) < 0);
  return older.slice(-limit);
}
