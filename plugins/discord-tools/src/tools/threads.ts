import { auditReason, compareIds, defined, nameText, type ToolDefinition, t, UserError, z } from '@cinnabar/sdk';
import {
  type AnyThreadChannel,
  type Channel,
  ChannelType,
  type ForumChannel,
  type MediaChannel,
  type NewsChannel,
  type TextChannel,
} from 'discord.js';
import { channelField, reasonField, threadField } from '../arguments.js';
import { discordTool, presentDelete } from '../discord-tool.js';
import {
  channelInSentence,
  channelOf,
  channelPlace,
  channelSource,
  channelText,
  placeOf,
  threadChannel,
} from '../places.js';
import { channelsWith, demand, may, READING, requireThreadRights } from '../rights.js';
import { post, replyTarget } from '../sending.js';
import type { Caller, Context } from '../settings.js';

const MANAGING_THREADS = ['ViewChannel', 'ManageThreads'] as const;

export function threadTools(context: Context): readonly ToolDefinition[] {
  const { client, sent } = context;
  return [
    discordTool({
      name: 'discord_create_thread',
      description: 'Start a thread in a channel, from a message or on its own, optionally with a first message.',
      input: z.object({
        channelId: channelField,
        name: z.string().trim().min(1).max(100).describe('Name'),
        messageId: z.string().max(200).optional().describe('The message of that channel to start it from: its id'),
        message: z.string().min(1).max(20_000).optional().describe('What to say in it first'),
        private: z.boolean().default(false).describe('Only for those who are invited'),
        reason: reasonField,
      }),
      risk: 'write',
      permissions: READING,
      place: ({ channelId }) => channelPlace(client, channelId),
      examples: [
        'start a thread called {name} in {channelId}',
        'start a thread called {name} from message {messageId} in {channelId}',
      ],
      async run({ channelId, name, messageId, message, private: isPrivate, reason }, call) {
        const channel = await channelOf(client, channelId);
        if (channel.type !== ChannelType.GuildText && channel.type !== ChannelType.GuildAnnouncement) {
          throw new UserError(t('Threads are started in text channels; a forum has posts instead.'));
        }
        await demand(context, call, placeOf(channel), isPrivate ? 'CreatePrivateThreads' : 'CreatePublicThreads');
        if (message !== undefined) await demand(context, call, placeOf(channel), 'SendMessagesInThreads');
        if (isPrivate && messageId !== undefined) throw new UserError(t('A thread from a message is never private.'));
        const from = messageId === undefined ? undefined : await replyTarget(context, call, channel, messageId);
        const about = { name, reason: auditReason(context.client, call.actor, reason) };
        const thread = await (from?.startThread(about) ?? startIn(channel, isPrivate, about));
        await sent.remember(thread.id, [thread.id], call.actor);
        // The bot is the thread's owner, so the requester has to be added to see it.
        if (isPrivate) await thread.members.add(call.actor.userId);
        const posted = message === undefined ? undefined : await post(context, call, thread, message);
        return { id: thread.id, name: thread.name, messageIds: posted?.messageIds ?? [] };
      },
      present: {
        sentence: ({ name, channelId }) =>
          t("I'll start the thread {name} in {channel}", {
            name,
            channel: channelInSentence(client, channelId),
          }),
        said: ['name'],
        action: 'Start thread',
        success: (_, { id, name, messageIds }) =>
          messageIds.length === 0
            ? t('✓ Started the thread {name} ({id}).', { name: nameText(name), id })
            : t('✓ Started the thread {name} ({id}) with message {ids}.', {
                name: nameText(name),
                id,
                ids: messageIds.join(', '),
              }),
        cancelled: ({ name }) => t('Cancelled starting the thread {name}.', { name }),
      },
    }),
    discordTool({
      name: 'discord_list_threads',
      description: 'List the threads of a channel, the newest first.',
      input: z.object({
        channelId: channelField,
        includeArchived: z.boolean().default(false).describe('Archived ones, too'),
        limit: z.number().int().min(1).max(100).default(50).describe('How many, at most 100'),
      }),
      risk: 'read',
      permissions: READING,
      place: ({ channelId }) => channelPlace(client, channelId),
      examples: ['which threads are there in {channelId}?', 'list the threads in {channelId}'],
      async run({ channelId, includeArchived, limit }, call) {
        const channel = await channelOf(client, channelId);
        const threads = await threadsIn(context, call, channel, { archived: includeArchived, limit });
        return { channel: channelText(channel), threads: threads.map(viewThread) };
      },
      sources: ({ threads }) => threads.map(({ id }) => channelSource(client, id)),
      present: {
        sentence: ({ channelId }) =>
          t("I'll list the threads in {channel}", {
            channel: channelInSentence(client, channelId),
          }),
        action: 'List threads',
        success: (_, { channel, threads }) =>
          threads.length === 0 ? t('No threads in {channel}.', { channel }) : threads.map(threadText).join('\n'),
      },
    }),
    discordTool({
      name: 'discord_join_thread',
      description: 'Make the bot a member of a thread, so that it hears what is said there.',
      input: z.object({ threadId: threadField }),
      risk: 'write',
      idempotent: true,
      permissions: ['ViewChannel'],
      place: ({ threadId }) => channelPlace(client, threadId),
      examples: ['join the thread {threadId}'],
      async run({ threadId }) {
        const thread = await threadChannel(client, threadId);
        await thread.join();
        return viewThread(thread);
      },
      present: {
        sentence: ({ threadId }) =>
          t("I'll join the thread {channel}", { channel: channelInSentence(client, threadId) }),
        action: 'Join thread',
        success: (_, { id, name }) => t('✓ Joined the thread {name} ({id}).', { name: nameText(name), id }),
        cancelled: () => t('Cancelled joining the thread.'),
      },
    }),
    discordTool({
      name: 'discord_archive_thread',
      description: 'Archive a thread, or open it again; lock or unlock it.',
      input: z.object({
        threadId: threadField,
        archived: z.boolean().default(true).describe('false opens it again'),
        locked: z.boolean().optional().describe('Whether only moderators may write in it, or open it again'),
        reason: reasonField,
      }),
      risk: 'write',
      idempotent: true,
      permissions: ['ViewChannel'],
      place: ({ threadId }) => channelPlace(client, threadId),
      examples: ['archive the thread {threadId}', 'close the thread {threadId}'],
      async run({ threadId, archived, locked, reason }, call) {
        const thread = await threadChannel(client, threadId);
        await requireThreadRights(context, call, thread);
        if (locked !== undefined) await demand(context, call, placeOf(thread), 'ManageThreads');
        const change = { archived, ...defined({ locked }), reason: auditReason(context.client, call.actor, reason) };
        return viewThread(await thread.edit(change));
      },
      present: {
        sentence: ({ threadId, archived }) =>
          archived
            ? t("I'll archive the thread {channel}", { channel: channelInSentence(client, threadId) })
            : t("I'll open the thread {channel}", { channel: channelInSentence(client, threadId) }),
        action: 'Archive thread',
        success: (_, thread) => `✓ ${threadText(thread)}.`,
        cancelled: () => t('Cancelled: the thread stays as it is.'),
      },
    }),
    discordTool({
      name: 'discord_delete_thread',
      description: 'Delete a thread with everything in it. This cannot be undone.',
      input: z.object({ threadId: threadField, reason: reasonField }),
      risk: 'destructive',
      idempotent: true,
      permissions: MANAGING_THREADS,
      place: ({ threadId }) => channelPlace(client, threadId),
      examples: ['delete the thread {threadId}'],
      async run({ threadId, reason }, call) {
        const thread = await threadChannel(client, threadId);
        await thread.delete(auditReason(context.client, call.actor, reason));
        return viewThread(thread);
      },
      present: presentDelete('thread', 'Delete thread', ({ threadId }: { threadId: string }) =>
        channelInSentence(client, threadId),
      ),
    }),
  ];
}

/** The kind of thread to create. An announcement channel has only one. */
async function startIn(
  channel: TextChannel | NewsChannel,
  isPrivate: boolean,
  about: { readonly name: string; readonly reason: string },
): Promise<AnyThreadChannel> {
  if (channel.type === ChannelType.GuildAnnouncement) {
    if (isPrivate) throw new UserError(t('There are no private threads in an announcement channel.'));
    return channel.threads.create({ ...about, type: ChannelType.AnnouncementThread });
  }
  return channel.threads.create({ ...about, type: isPrivate ? ChannelType.PrivateThread : ChannelType.PublicThread });
}

export interface ThreadView {
  readonly id: string;
  readonly name: string;
  readonly parentId: string | null;
  readonly ownerId: string | null;
  readonly private: boolean;
  readonly archived: boolean;
  readonly locked: boolean;
  /** ISO 8601. */
  readonly createdAt: string | null;
  readonly messages: number;
  /** Names of the tags of a forum post. */
  readonly tags: readonly string[];
}

export function viewThread(thread: AnyThreadChannel): ThreadView {
  return {
    id: thread.id,
    name: thread.name,
    parentId: thread.parentId,
    ownerId: thread.ownerId,
    private: thread.type === ChannelType.PrivateThread,
    archived: thread.archived === true,
    locked: thread.locked === true,
    createdAt: thread.createdAt?.toISOString() ?? null,
    messages: thread.totalMessageSent ?? thread.messageCount ?? 0,
    tags: tagNames(thread),
  };
}

function tagNames({ parent, appliedTags }: AnyThreadChannel): readonly string[] {
  const known: (ForumChannel | MediaChannel)['availableTags'] =
    parent?.isThreadOnly() === true ? parent.availableTags : [];
  return appliedTags.map((id) => known.find((tag) => tag.id === id)?.name ?? id);
}

export function threadText(thread: ThreadView): string {
  const facts = [
    t('{name} (thread {threadId})', { name: nameText(thread.name), threadId: thread.id }),
    ...(thread.private ? [t('private')] : []),
    ...(thread.archived ? [t('archived')] : []),
    ...(thread.locked ? [t('locked')] : []),
    ...(thread.ownerId === null ? [] : [t('by {ownerId}', { ownerId: thread.ownerId })]),
    ...(thread.createdAt === null ? [] : [t('since {createdAt}', { createdAt: thread.createdAt })]),
    t('{count} messages', { count: thread.messages }),
    ...(thread.tags.length === 0 ? [] : [t('tags {tags}', { tags: thread.tags.map(nameText).join(', ') })]),
  ];
  return facts.join(' · ');
}

interface Wanted {
  readonly archived: boolean;
  readonly limit: number;
}

/** The threads of a channel that the caller can see, newest first. Private ones only for their members and moderators. */
export async function threadsIn(
  context: Context,
  caller: Caller,
  channel: Channel,
  { archived, limit }: Wanted,
): Promise<readonly AnyThreadChannel[]> {
  if (channel.isDMBased() || !('threads' in channel))
    throw new UserError(t('There are no threads in a channel of this kind.'));
  const { threads } = channel;
  const found: AnyThreadChannel[] = [...(await threads.fetchActive()).threads.values()];
  if (archived) {
    found.push(...(await threads.fetchArchived({ type: 'public', limit })).threads.values());
    // Discord returns all private threads to members, and to bots, with Manage Threads.
    if (
      !channel.isThreadOnly() &&
      (await may(context, caller, placeOf(channel), ['ManageThreads'], ['ManageThreads']))
    ) {
      found.push(...(await threads.fetchArchived({ type: 'private', limit })).threads.values());
    }
  }
  found.sort((one, other) => compareIds(other.id, one.id));
  const seen = await channelsWith(context, caller, found, READING);
  return seen.flatMap((thread) => (thread.isThread() ? [thread] : [])).slice(0, limit);
}
