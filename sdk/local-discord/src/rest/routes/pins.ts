import { findChannel, findMessage } from '../../actions/find.js';
import { pinMessage, pinnedMessages, unpinMessage } from '../../actions/pins.js';
import { messagePayload } from '../../payload/message.js';
import { isoTime } from '../../payload/time.js';
import { restViewer } from '../../rules/message-content.js';
import { requireInChannel } from '../../rules/permissions.js';
import type { RestContext } from '../context.js';
import { numberIn } from '../query.js';
import { type Route, route } from '../route.js';

function channelOf({ world, user, param }: RestContext) {
  return findChannel(world, param('channelId'), user);
}

function pinsOf(context: RestContext) {
  const channel = channelOf(context);
  requireInChannel(channel, context.user, context.world.clock.now(), 'ReadMessageHistory');
  return pinnedMessages(channel);
}

/** The old paths and the new ones pin alike. */
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
