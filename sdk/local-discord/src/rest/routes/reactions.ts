import { findChannel, findMessage, findUser } from '../../actions/find.js';
import { addReaction, clearReactions, removeReaction } from '../../actions/reactions.js';
import { userPayload } from '../../payload/user.js';
import { parseEmoji } from '../../rules/emoji.js';
import { emojiKey } from '../../state/emoji.js';
import { compareIds } from '../../state/snowflake.js';
import type { RestContext } from '../context.js';
import { numberIn } from '../query.js';
import { route } from '../route.js';

const BASE = '/channels/:channelId/messages/:messageId/reactions';

function messageOf({ world, user, param }: RestContext) {
  return findMessage(findChannel(world, param('channelId'), user), param('messageId'));
}

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
