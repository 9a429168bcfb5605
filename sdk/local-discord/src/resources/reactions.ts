import { discordError } from '../errors.js';
import { broadcast } from '../gateway/dispatch.js';
import { emojiRefPayload, memberPayload, userPayload } from '../payload/users.js';
import { numberIn, type RestContext, route } from '../rest/request.js';
import { parseEmoji } from '../rules/messages.js';
import { requireInChannel } from '../rules/permissions.js';
import { compareIds } from '../snowflakes.js';
import { type EmojiRef, emojiKey, type LocalMessage } from '../state/messages.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';
import { findUser, messageOf } from './find.js';

const MAX_EMOJIS = 20;

/**
 * Adds a reaction; a second one of the same user with the same emoji changes nothing.
 * @throws 50001, 50013 (a new emoji needs AddReactions), 30010, 90001 (the author blocked the user)
 */
export function addReaction(world: World, user: LocalUser, message: LocalMessage, emoji: EmojiRef): void {
  const { channel } = message;
  const key = emojiKey(emoji);
  const present = message.reactionsByKey.get(key);
  requireInChannel(channel, user, world.clock.now(), 'ReadMessageHistory');
  if (!present) requireInChannel(channel, user, world.clock.now(), 'AddReactions');
  if (message.author.user?.blocked.has(user.id)) throw discordError('reactionBlocked');
  if (!present && message.reactionsByKey.size >= MAX_EMOJIS) throw discordError('tooManyReactions');
  const reaction = present ?? { emoji, users: new Set<LocalUser>() };
  if (reaction.users.has(user)) return;
  reaction.users.add(user);
  message.reactionsByKey.set(key, reaction);
  const member = channel.guild?.members.get(user.id);
  broadcast(
    world,
    'MESSAGE_REACTION_ADD',
    { channel },
    {
      ...eventFields(message, user, emoji),
      ...(member ? { member: memberPayload(member) } : {}),
      message_author_id: message.author.id,
      burst_colors: [],
    },
  );
  world.notify({ type: 'reactionAdd', message, user, emoji });
}

/** Removes one user's reaction. @throws 50013 for another user's without ManageMessages, 50003 for another user's in a DM */
export function removeReaction(
  world: World,
  actor: LocalUser,
  message: LocalMessage,
  emoji: EmojiRef,
  owner: LocalUser,
): void {
  const { channel } = message;
  if (actor !== owner && channel.isDm) throw discordError('wrongChannelTypeDm');
  requireInChannel(channel, actor, world.clock.now(), ...(actor === owner ? [] : (['ManageMessages'] as const)));
  const reaction = message.reactionsByKey.get(emojiKey(emoji));
  if (!reaction?.users.delete(owner)) return;
  if (reaction.users.size === 0) message.reactionsByKey.delete(emojiKey(emoji));
  broadcast(world, 'MESSAGE_REACTION_REMOVE', { channel }, eventFields(message, owner, reaction.emoji));
  world.notify({ type: 'reactionRemove', message, user: owner, emoji: reaction.emoji });
}

/** Removes all reactions, or all with one emoji. @throws 50013 without ManageMessages, 50003 in a DM */
export function clearReactions(world: World, actor: LocalUser, message: LocalMessage, emoji?: EmojiRef): void {
  const { channel } = message;
  if (channel.isDm) throw discordError('wrongChannelTypeDm');
  requireInChannel(channel, actor, world.clock.now(), 'ManageMessages');
  const where = {
    channel_id: channel.id,
    message_id: message.id,
    ...(channel.guild ? { guild_id: channel.guild.id } : {}),
  };
  if (!emoji) {
    message.reactionsByKey.clear();
    broadcast(world, 'MESSAGE_REACTION_REMOVE_ALL', { channel }, where);
    world.notify({ type: 'reactionsClear', message });
    return;
  }
  if (!message.reactionsByKey.delete(emojiKey(emoji))) return;
  broadcast(world, 'MESSAGE_REACTION_REMOVE_EMOJI', { channel }, { ...where, emoji: emojiRefPayload(emoji) });
  world.notify({ type: 'reactionsClear', message, emoji });
}

function eventFields(message: LocalMessage, user: LocalUser, emoji: EmojiRef) {
  const { guild } = message.channel;
  return {
    user_id: user.id,
    channel_id: message.channel.id,
    message_id: message.id,
    ...(guild ? { guild_id: guild.id } : {}),
    emoji: emojiRefPayload(emoji),
    burst: false,
    type: 0,
  };
}

const BASE = '/channels/:channelId/messages/:messageId/reactions';

function emojiOf({ world, param }: RestContext) {
  return parseEmoji(world, param('emoji'));
}

export const reactionRoutes = [
  route('PUT', `${BASE}/:emoji/@me`, (context) => {
    addReaction(context.world, context.user, messageOf(context), emojiOf(context));
    return undefined;
  }),
  route('DELETE', `${BASE}/:emoji/@me`, (context) => {
    removeReaction(context.world, context.user, messageOf(context), emojiOf(context), context.user);
    return undefined;
  }),
  route('DELETE', `${BASE}/:emoji/:userId`, (context) => {
    const owner = findUser(context.world, context.param('userId'));
    removeReaction(context.world, context.user, messageOf(context), emojiOf(context), owner);
    return undefined;
  }),
  route('GET', `${BASE}/:emoji`, (context) => {
    const reaction = messageOf(context).reactionsByKey.get(emojiKey(emojiOf(context)));
    const after = context.query.get('after') ?? '0';
    const limit = numberIn(context.query, 'limit', 1, 100, 25);
    return [...(reaction?.users ?? [])]
      .filter((user) => compareIds(user.id, after) > 0)
      .sort((a, b) => compareIds(a.id, b.id))
      .slice(0, limit)
      .map(userPayload);
  }),
  route('DELETE', `${BASE}/:emoji`, (context) => {
    clearReactions(context.world, context.user, messageOf(context), emojiOf(context));
    return undefined;
  }),
  route('DELETE', BASE, (context) => {
    clearReactions(context.world, context.user, messageOf(context));
    return undefined;
  }),
];
