import { z } from 'zod';
import { bulkDelete, deleteOwnMessage } from '../../actions/delete-message.js';
import { editOwnMessage } from '../../actions/edit-message.js';
import { findChannel, findMessage } from '../../actions/find.js';
import { messageHistory } from '../../actions/history.js';
import { sendMessage } from '../../actions/send-message.js';
import { startTyping } from '../../actions/typing.js';
import { createdMessagePayload, messagePayload } from '../../payload/message.js';
import { restViewer } from '../../rules/message-content.js';
import { requireInChannel } from '../../rules/permissions.js';
import type { RestContext } from '../context.js';
import { messageEditForm, messageForm, toDraft, toEdit } from '../forms/message.js';
import { numberIn } from '../query.js';
import { route } from '../route.js';

const bulkForm = z.object({ messages: z.array(z.string()) });

function channelOf({ world, user, param }: RestContext) {
  return findChannel(world, param('channelId'), user);
}

function messageOf(context: RestContext) {
  return findMessage(channelOf(context), context.param('messageId'));
}

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
    deleteOwnMessage(context.world, context.user, messageOf(context));
    return undefined;
  }),
  route('POST', '/channels/:channelId/messages/bulk-delete', (context) => {
    bulkDelete(context.world, context.user, channelOf(context), context.form(bulkForm).messages);
    return undefined;
  }),
  route('POST', '/channels/:channelId/typing', (context) => {
    startTyping(context.world, context.user, channelOf(context));
    return undefined;
  }),
];
