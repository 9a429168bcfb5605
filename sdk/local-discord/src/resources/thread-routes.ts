import { ChannelType } from 'discord-api-types/v10';
import { discordError } from '../errors.js';
import { channelPayload, threadMemberPayload } from '../payload/channels.js';
import { messagePayload } from '../payload/messages.js';
import { memberPayload } from '../payload/users.js';
import { toDraft } from '../rest/message-form.js';
import { Created, type RestContext, route } from '../rest/request.js';
import { type MessageDraft, restViewer } from '../rules/messages.js';
import { canView, requireInChannel } from '../rules/permissions.js';
import { LocalChannel } from '../state/channels.js';
import type { LocalMessage } from '../state/messages.js';
import type { LocalUser, StartThreadOptions } from '../state/users.js';
import type { World } from '../world.js';
import { threadForm } from './channels.js';
import { channelOf, findMessage, findUser } from './find.js';
import { sendMessage } from './messages.js';
import { addThreadMember, createThread, removeThreadMember } from './threads.js';

/** Starts a thread as a user or bot. @throws 50001, 50006, 50013, 50024, 160004 */
export function startThread(
  world: World,
  user: LocalUser,
  where: LocalChannel | LocalMessage,
  name: string,
  options: StartThreadOptions & { readonly message?: MessageDraft | undefined },
): LocalChannel {
  const channel = where instanceof LocalChannel ? where : where.channel;
  const { content, message = content === undefined ? undefined : { content }, private: secret, ...rest } = options;
  const isForum = channel.type === ChannelType.GuildForum;
  const permission = isForum ? 'SendMessages' : secret ? 'CreatePrivateThreads' : 'CreatePublicThreads';
  requireInChannel(channel, user, world.clock.now(), permission);
  if (isForum && !message) throw discordError('emptyMessage');
  const thread = createThread(world, channel, user, {
    ...rest,
    name,
    type: secret ? ChannelType.PrivateThread : ChannelType.PublicThread,
    ...(where instanceof LocalChannel ? {} : { from: where }),
  });
  if (message) sendMessage(world, user, thread, isForum ? { ...message, id: thread.id } : message);
  return thread;
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

/** A list of threads, with the memberships of the requesting bot. */
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
