import { discordError } from '../errors.js';
import { broadcast } from '../gateway/dispatch.js';
import { emojiRefPayload } from '../payload/emoji.js';
import { memberPayload } from '../payload/member.js';
import { requireInChannel } from '../rules/permissions.js';
import { type EmojiRef, emojiKey } from '../state/emoji.js';
import type { LocalMessage } from '../state/message.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';

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

/** Takes one user's reaction away. @throws 50013 for another's without ManageMessages, 50003 for another's in a DM */
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

/** Takes all reactions away, or all with one emoji. @throws 50013 without ManageMessages, 50003 in a DM */
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
