import { deleteChannel } from '../../actions/channels.js';
import { editChannel, editOverwrite } from '../../actions/edit-channel.js';
import { findChannel } from '../../actions/find.js';
import { channelPayload } from '../../payload/channel.js';
import { requireInChannel } from '../../rules/permissions.js';
import type { RestContext } from '../context.js';
import { channelEditForm, overwriteForm } from '../forms/channel.js';
import { route } from '../route.js';

function channelOf({ world, user, param }: RestContext) {
  return findChannel(world, param('channelId'), user);
}

export const channelRoutes = [
  route('GET', '/channels/:channelId', (context) => channelPayload(channelOf(context), context.user.id)),
  route('PATCH', '/channels/:channelId', (context) => {
    const channel = channelOf(context);
    editChannel(context.world, context.user, channel, context.form(channelEditForm));
    return channelPayload(channel, context.user.id);
  }),
  route('DELETE', '/channels/:channelId', (context) => {
    const channel = channelOf(context);
    const payload = channelPayload(channel, context.user.id);
    if (channel.isDm) return payload;
    requireInChannel(
      channel,
      context.user,
      context.world.clock.now(),
      channel.isThread ? 'ManageThreads' : 'ManageChannels',
    );
    deleteChannel(context.world, channel);
    return payload;
  }),
  route('PUT', '/channels/:channelId/permissions/:overwriteId', (context) => {
    const { type, allow, deny } = context.form(overwriteForm);
    const overwrite = {
      kind: type === 0 ? ('role' as const) : ('member' as const),
      allow: allow ?? 0n,
      deny: deny ?? 0n,
    };
    editOverwrite(context.world, context.user, channelOf(context), context.param('overwriteId'), overwrite);
    return undefined;
  }),
  route('DELETE', '/channels/:channelId/permissions/:overwriteId', (context) => {
    editOverwrite(context.world, context.user, channelOf(context), context.param('overwriteId'), undefined);
    return undefined;
  }),
  route('GET', '/channels/:channelId/invites', (context) => {
    requireInChannel(channelOf(context), context.user, context.world.clock.now(), 'ManageChannels');
    return [];
  }),
];
