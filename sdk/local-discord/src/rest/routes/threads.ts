import { ChannelType } from 'discord-api-types/v10';
import { findChannel, findMessage, findUser } from '../../actions/find.js';
import { startThread } from '../../actions/start-thread.js';
import { addThreadMember, removeThreadMember } from '../../actions/threads.js';
import { discordError } from '../../errors.js';
import { channelPayload } from '../../payload/channel.js';
import { memberPayload } from '../../payload/member.js';
import { messagePayload } from '../../payload/message.js';
import { threadMemberPayload } from '../../payload/thread.js';
import { restViewer } from '../../rules/message-content.js';
import { canView, requireInChannel } from '../../rules/permissions.js';
import type { LocalChannel } from '../../state/channel.js';
import type { RestContext } from '../context.js';
import { threadForm } from '../forms/channel.js';
import { toDraft } from '../forms/message.js';
import { Created, route } from '../route.js';

function channelOf({ world, user, param }: RestContext): LocalChannel {
  return findChannel(world, param('channelId'), user);
}

function start(context: RestContext, where: Parameters<typeof startThread>[2]): Created {
  const form = context.form(threadForm);
  const thread = startThread(context.world, context.user, where, form.name, {
    private: form.type === ChannelType.PrivateThread,
    autoArchiveMinutes: form.auto_archive_duration ?? undefined,
    invitable: form.invitable ?? undefined,
    slowmodeSeconds: form.rate_limit_per_user ?? undefined,
    appliedTags: form.applied_tags ?? undefined,
    message: form.message ? toDraft(form.message, context.files) : undefined,
  });
  const [first] = thread.messages;
  return new Created({
    ...channelPayload(thread, context.user.id),
    ...(first ? { message: messagePayload(first, restViewer(context.application)) } : {}),
  });
}

/** A list of threads, with the memberships of the bot that asks. */
export function threadList(context: RestContext, threads: readonly LocalChannel[]) {
  const { user, world } = context;
  const visible = threads.filter((thread) => canView(thread, user, world.clock.now()));
  return {
    threads: visible.map((thread) => channelPayload(thread, user.id)),
    members: visible.flatMap((thread) => {
      const joinedAt = thread.thread?.members.get(user.id);
      return joinedAt === undefined ? [] : [threadMemberPayload(thread, user.id, joinedAt)];
    }),
    has_more: false,
  };
}

function archived(context: RestContext, type: ChannelType) {
  const parent = channelOf(context);
  requireInChannel(parent, context.user, context.world.clock.now(), 'ReadMessageHistory');
  const all = [...(parent.guild?.threads.values() ?? [])];
  return threadList(
    context,
    all.filter((thread) => thread.parent === parent && thread.type === type && thread.thread?.archived),
  );
}

function userOf(context: RestContext) {
  const id = context.param('userId');
  return id === '@me' ? context.user : findUser(context.world, id);
}

export const threadRoutes = [
  route('POST', '/channels/:channelId/threads', (context) => start(context, channelOf(context))),
  route('POST', '/channels/:channelId/messages/:messageId/threads', (context) =>
    start(context, findMessage(channelOf(context), context.param('messageId'))),
  ),
  route('GET', '/channels/:channelId/threads/archived/public', (context) =>
    archived(context, ChannelType.PublicThread),
  ),
  route('GET', '/channels/:channelId/threads/archived/private', (context) =>
    archived(context, ChannelType.PrivateThread),
  ),
  route('GET', '/channels/:channelId/users/@me/threads/archived/private', (context) =>
    archived(context, ChannelType.PrivateThread),
  ),
  route('GET', '/channels/:channelId/thread-members', (context) => {
    const thread = channelOf(context);
    const withMember = context.query.get('with_member') === 'true';
    return [...(thread.thread?.members ?? [])].map(([userId, joinedAt]) => {
      const member = thread.guild?.members.get(userId);
      return {
        ...threadMemberPayload(thread, userId, joinedAt),
        ...(withMember && member ? { member: memberPayload(member) } : {}),
      };
    });
  }),
  route('GET', '/channels/:channelId/thread-members/:userId', (context) => {
    const thread = channelOf(context);
    const { id } = userOf(context);
    const joinedAt = thread.thread?.members.get(id);
    if (joinedAt === undefined) throw discordError('unknownMember');
    return threadMemberPayload(thread, id, joinedAt);
  }),
  route('PUT', '/channels/:channelId/thread-members/:userId', (context) => {
    addThreadMember(context.world, channelOf(context), userOf(context));
    return undefined;
  }),
  route('DELETE', '/channels/:channelId/thread-members/:userId', (context) => {
    const thread = channelOf(context);
    const leaver = userOf(context);
    if (leaver !== context.user) requireInChannel(thread, context.user, context.world.clock.now(), 'ManageThreads');
    removeThreadMember(context.world, thread, leaver);
    return undefined;
  }),
];
