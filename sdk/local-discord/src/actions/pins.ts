import { MessageType } from 'discord-api-types/v10';
import { discordError } from '../errors.js';
import { broadcast } from '../gateway/dispatch.js';
import { isoTimeOrNull } from '../payload/time.js';
import { channelPermissions, hasChannelPermission, requireInChannel } from '../rules/permissions.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalMessage } from '../state/message.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';
import { announceEdit } from './announce-message.js';
import { postMessage } from './messages.js';

const MAX_PINS = 250;

/** Pinned messages, the latest pin first. */
export function pinnedMessages(channel: LocalChannel): LocalMessage[] {
  return channel.messages.filter((message) => message.pinned).sort((a, b) => (b.pinnedAt ?? 0) - (a.pinnedAt ?? 0));
}

/** Pins, and says so in the channel as Discord does. @throws 50001, 50013, 30003, 50021 */
export function pinMessage(world: World, user: LocalUser, message: LocalMessage): void {
  const { channel } = message;
  requirePinning(world, user, channel);
  if (message.pinned) return;
  if (
    message.type !== MessageType.Default &&
    message.type !== MessageType.Reply &&
    message.type !== MessageType.ChatInputCommand
  ) {
    throw discordError('systemMessage');
  }
  if (pinnedMessages(channel).length >= MAX_PINS) throw discordError('tooManyPins');
  const now = world.clock.now();
  message.pinnedAt = now;
  channel.lastPinAt = now;
  announcePins(world, message);
  world.notify({ type: 'pin', message });
  const sender = {
    author: user,
    permissions: channelPermissions(channel, user, now),
    type: MessageType.ChannelPinnedMessage,
  };
  postSystemMessage(world, sender, message);
}

/** @throws 50001, 50013 */
export function unpinMessage(world: World, user: LocalUser, message: LocalMessage): void {
  requirePinning(world, user, message.channel);
  if (!message.pinned) return;
  message.pinnedAt = undefined;
  announcePins(world, message);
  world.notify({ type: 'unpin', message });
}

/** Discord split PinMessages off ManageMessages; either will do here. */
function requirePinning(world: World, user: LocalUser, channel: LocalChannel): void {
  const now = world.clock.now();
  requireInChannel(channel, user, now, 'ReadMessageHistory');
  if (!hasChannelPermission(channel, user, now, 'ManageMessages')) requireInChannel(channel, user, now, 'PinMessages');
}

function announcePins(world: World, message: LocalMessage): void {
  const { channel } = message;
  announceEdit(world, message, false);
  broadcast(
    world,
    'CHANNEL_PINS_UPDATE',
    { channel },
    {
      channel_id: channel.id,
      ...(channel.guild ? { guild_id: channel.guild.id } : {}),
      last_pin_timestamp: isoTimeOrNull(channel.lastPinAt),
    },
  );
}

function postSystemMessage(world: World, sender: Parameters<typeof postMessage>[2], pinned: LocalMessage): void {
  const reply = { messageId: pinned.id, failIfMissing: false };
  postMessage(world, pinned.channel, sender, { replyTo: reply, allowedMentions: { parse: [] } });
}
