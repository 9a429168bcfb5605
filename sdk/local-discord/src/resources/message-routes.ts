import { z } from 'zod';
import { broadcast } from '../gateway/dispatch.js';
import { createdMessagePayload, messagePayload } from '../payload/messages.js';
import { memberPayload } from '../payload/users.js';
import { messageEditForm, messageForm, toDraft, toEdit } from '../rest/message-form.js';
import { numberIn, route } from '../rest/request.js';
import { restViewer } from '../rules/messages.js';
import { hasChannelPermission, requireInChannel } from '../rules/permissions.js';
import { compareIds } from '../snowflakes.js';
import type { LocalChannel } from '../state/channels.js';
import type { LocalMessage } from '../state/messages.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';
import { channelOf, messageOf } from './find.js';
import { bulkDelete, deleteOwnMessage, editOwnMessage } from './message-changes.js';
import { sendMessage } from './messages.js';

const bulkForm = z.object({ messages: z.array(z.string()) });

export const messageRoutes = [
  route('GET', '/channels/:channelId/messages', (context) => {
    const { world, user, query, application } = context;
    const channel = channelOf(context);
    const viewer = restViewer(application);
    const range = {
      before: query.get('before') ?? undefined,
      after: query.get('after') ?? undefined,
      around: query.get('around') ?? undefined,
      limit: numberIn(query, 'limit', 1, 100, 50),
    };
    return messageHistory(world, user, channel, range).map((message) => messagePayload(message, viewer));
  }),
  route('POST', '/channels/:channelId/messages', (context) => {
    const draft = toDraft(context.form(messageForm), context.files);
    const message = sendMessage(context.world, context.user, channelOf(context), draft);
    return createdMessagePayload(message, restViewer(context.application));
  }),
  route('GET', '/channels/:channelId/messages/:messageId', (context) => {
    requireInChannel(channelOf(context), context.user, context.world.clock.now(), 'ReadMessageHistory');
    return messagePayload(messageOf(context), restViewer(context.application));
  }),
  route('PATCH', '/channels/:channelId/messages/:messageId', (context) => {
    const message = messageOf(context);
    editOwnMessage(context.world, context.user, message, toEdit(context.form(messageEditForm), context.files));
    return messagePayload(message, restViewer(context.application));
  }),
  route('DELETE', '/channels/:channelId/messages/:messageId', (context) => {
    deleteOwnMessage(context.world, context.user, messageOf(context), context.reason);
    return undefined;
  }),
  route('POST', '/channels/:channelId/messages/bulk-delete', (context) => {
    const { messages } = context.form(bulkForm);
    bulkDelete(context.world, context.user, channelOf(context), messages, context.reason);
    return undefined;
  }),
  route('POST', '/channels/:channelId/typing', (context) => {
    startTyping(context.world, context.user, channelOf(context));
    return undefined;
  }),
];

interface HistoryRange {
  before?: string | undefined;
  after?: string | undefined;
  around?: string | undefined;
  limit: number;
}

/** Messages of a channel, newest first, with Discord's pagination. Empty without ReadMessageHistory. @throws 50001 */
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

/** Shows "… is typing" for ten seconds. @throws 50001, 50013 */
export function startTyping(world: World, user: LocalUser, channel: LocalChannel): void {
  const now = world.clock.now();
  requireInChannel(channel, user, now, 'SendMessages');
  const member = channel.guild?.members.get(user.id);
  broadcast(
    world,
    'TYPING_START',
    { channel },
    {
      channel_id: channel.id,
      user_id: user.id,
      timestamp: Math.floor(now / 1_000),
      ...(channel.guild ? { guild_id: channel.guild.id } : {}),
      ...(member ? { member: memberPayload(member) } : {}),
    },
  );
  world.notify({ type: 'typing', channel, user });
}
