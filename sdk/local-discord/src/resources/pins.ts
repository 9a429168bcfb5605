import { MessageType } from 'discord-api-types/v10';
import { discordError } from '../errors.js';
import { broadcast } from '../gateway/dispatch.js';
import { messagePayload } from '../payload/messages.js';
import { isoTime, isoTimeOrNull } from '../payload/users.js';
import { numberIn, type RestContext, type Route, route } from '../rest/request.js';
import { restViewer } from '../rules/messages.js';
import { channelPermissions, hasChannelPermission, requireInChannel } from '../rules/permissions.js';
import type { LocalChannel } from '../state/channels.js';
import type { LocalMessage } from '../state/messages.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';
import { channelOf, findMessage } from './find.js';
import { announceEdit } from './message-events.js';
import { postMessage } from './messages.js';

const MAX_PINS = 250;

/** Pinned messages, the latest pin first. */
function pinnedMessages(channel: LocalChannel): LocalMessage[] {
  return channel.messages.filter((message) => message.pinned).sort((a, b) => (b.pinnedAt ?? 0) - (a.pinnedAt ?? 0));
}

/** Pins a message, and posts Discord's notice about it in the channel. @throws 50001, 50013, 30003, 50021 */
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

/** Discord has separated PinMessages from ManageMessages; either is accepted here. */
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

function pinsOf(context: RestContext) {
  const channel = channelOf(context);
  requireInChannel(channel, context.user, context.world.clock.now(), 'ReadMessageHistory');
  return pinnedMessages(channel);
}

/** The deprecated paths and the new ones behave alike. */
function pinning(path: string): Route[] {
  return [
    route('PUT', path, (context) => {
      pinMessage(context.world, context.user, findMessage(channelOf(context), context.param('messageId')));
      return undefined;
    }),
    route('DELETE', path, (context) => {
      unpinMessage(context.world, context.user, findMessage(channelOf(context), context.param('messageId')));
      return undefined;
    }),
  ];
}

export const pinRoutes = [
  ...pinning('/channels/:channelId/pins/:messageId'),
  ...pinning('/channels/:channelId/messages/pins/:messageId'),
  route('GET', '/channels/:channelId/pins', (context) => {
    const viewer = restViewer(context.application);
    return pinsOf(context).map((message) => messagePayload(message, viewer));
  }),
  route('GET', '/channels/:channelId/messages/pins', (context) => {
    const viewer = restViewer(context.application);
    const before = Date.parse(context.query.get('before') ?? '') || Number.POSITIVE_INFINITY;
    const limit = numberIn(context.query, 'limit', 1, 50, 50);
    const all = pinsOf(context).filter((message) => (message.pinnedAt ?? 0) < before);
    return {
      items: all.slice(0, limit).map((message) => ({
        pinned_at: isoTime(message.pinnedAt ?? 0),
        message: messagePayload(message, viewer),
      })),
      has_more: all.length > limit,
    };
  }),
];
