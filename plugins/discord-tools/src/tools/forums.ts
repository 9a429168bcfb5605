import { auditReason, defined, nameText, type ToolDefinition, t, UserError, unlessUnreachable, z } from '@cinnabar/sdk';
import type { GuildForumTagData } from 'discord.js';
import { forumField, guildField, readId, reasonField, textField, threadField } from '../arguments.js';
import { discordTool } from '../discord-tool.js';
import { fitting, type MessageView, messagesText, messageText, viewMessage } from '../message-view.js';
import {
  channelInSentence,
  channelPlace,
  channelSource,
  type Forum,
  forumChannel,
  forumPost,
  messageSources,
  placeOf,
} from '../places.js';
import { demand, may, READING, requireThreadRights, seenGuild } from '../rights.js';
import { idsText, messageOptions, messagesFor, post, postParts } from '../sending.js';
import type { Caller, Context } from '../settings.js';
import { parsedEmoji } from './reactions.js';
import { type ThreadView, threadsIn, threadText, viewThread } from './threads.js';

const LATEST = 10;
const POSTING = ['ViewChannel', 'SendMessages'] as const;
const tag = z.object({
  name: z.string().trim().min(1).max(20).describe('The name, at most 20 characters'),
  moderated: z.boolean().optional().describe('Only for moderators to put on a post'),
  emoji: z.string().max(100).optional().describe('An emoji: 👍 or <:name:id>'),
});
const MANAGING = ['ViewChannel', 'ManageChannels'] as const;
/** Discord's limit for the tags of one post. */
const MOST_TAGS = 5;

export function forumTools(context: Context): readonly ToolDefinition[] {
  const { client, sent } = context;
  return [
    discordTool({
      name: 'discord_get_forum_channels',
      description: 'List the forum channels of a server that you can see, with their tags.',
      input: z.object({ guildId: guildField }),
      risk: 'read',
      examples: ['which forums are there in server {guildId}?'],
      runsIn: ({ guildId }) => readId(guildId, 'server'),
      async run({ guildId }, call) {
        const guild = client.guilds.cache.get(readId(guildId, 'server'));
        const { channels } = await seenGuild(context, call, guild);
        const forums = channels.flatMap((channel) => (channel.isThreadOnly() ? [channel] : []));
        return {
          forums: forums.map((forum) => ({
            id: forum.id,
            name: forum.name,
            topic: forum.topic,
            tags: viewTags(forum),
          })),
        };
      },
      sources: ({ forums }) => forums.map(({ id }) => channelSource(client, id)),
      present: {
        sentence: () => t("I'll list the forums of this server"),
        action: 'List forums',
        success: (_, { forums }) =>
          forums.length === 0 ? t('There are no forums.') : forums.map(forumText).join('\n'),
      },
    }),
    discordTool({
      name: 'discord_create_forum_post',
      description: 'Create a post in a forum channel. Returns the id of its thread.',
      input: z.object({
        forumChannelId: forumField,
        title: z.string().trim().min(1).max(100).describe('The title'),
        content: textField,
        tags: z.array(z.string().max(100)).max(MOST_TAGS).default([]).describe('Names or ids of tags of the forum'),
      }),
      risk: 'write',
      permissions: POSTING,
      place: ({ forumChannelId }) => channelPlace(client, forumChannelId),
      examples: ['create a post called {title} in the forum {forumChannelId} saying {content}'],
      async run({ forumChannelId, title, content, tags }, call) {
        const forum = await forumChannel(client, forumChannelId);
        const appliedTags = await tagIds(context, call, forum, tags);
        const options = await messageOptions(context, call, forum, content);
        const [first, ...rest] = await messagesFor(context, call, forum.guildId, content);
        if (first === undefined) throw new UserError(t('There is nothing to post.'));
        const thread = await forum.threads.create({
          name: title,
          message: { content: first, ...options },
          appliedTags,
          reason: auditReason(context.client, call.actor, undefined),
        });
        // A post and its first message have the same id.
        await sent.remember(thread.id, [thread.id], call.actor);
        const further = await postParts(context, call, thread, { contents: rest, options });
        return { threadId: thread.id, title: thread.name, messageIds: [thread.id, ...further] };
      },
      present: {
        sentence: ({ title, forumChannelId }) =>
          t("I'll create the post {title} in {channel}", {
            title,
            channel: channelInSentence(client, forumChannelId),
          }),
        said: ['title'],
        action: 'Create forum post',
        labels: { forumChannelId: 'Forum', content: 'Text' },
        success: (_, { threadId, title, messageIds }) =>
          t('✓ Created the post {name} (thread {threadId}, message {ids}).', {
            name: nameText(title),
            threadId,
            ids: messageIds.join(', '),
          }),
        cancelled: ({ title }) => t('Cancelled the post {title}.', { title }),
      },
    }),
    discordTool({
      name: 'discord_get_forum_post',
      description: 'Show a forum post: its title, tags and state, what it began with, and its latest answers.',
      input: z.object({ threadId: threadField }),
      risk: 'read',
      permissions: READING,
      place: ({ threadId }) => channelPlace(client, threadId),
      examples: ['show me the forum post {threadId}'],
      async run({ threadId }, call) {
        const { post } = await forumPost(client, threadId);
        const first = (await unlessUnreachable(post.fetchStarterMessage({ force: true }))) ?? undefined;
        const found = await post.messages.fetch({ limit: LATEST, cache: false });
        const latest = [...found.values()].reverse().filter(({ id }) => id !== first?.id);
        const begin = first === undefined ? undefined : viewMessage(first);
        const beginLength = begin === undefined ? 0 : messageText(begin).length;
        return {
          post: viewThread(post),
          ...(begin === undefined ? {} : { first: begin }),
          latest: fitting(latest.map(viewMessage), call.mostCharacters - beginLength, 'end'),
        };
      },
      sources: ({ post, first, latest }) => [
        channelSource(client, post.id),
        ...messageSources(client, [...(first === undefined ? [] : [first]), ...latest]),
      ],
      present: {
        sentence: ({ threadId }) => t("I'll read the post {channel}", { channel: channelInSentence(client, threadId) }),
        action: 'Read forum post',
        success: (_, found) => postText(found),
      },
    }),
    discordTool({
      name: 'discord_reply_to_forum',
      description: 'Answer in a forum post. Returns the id of each message sent.',
      input: z.object({ threadId: threadField, message: textField }),
      risk: 'write',
      permissions: POSTING,
      place: ({ threadId }) => channelPlace(client, threadId),
      examples: ['answer {message} in the forum post {threadId}'],
      async run({ threadId, message }, call) {
        const { post: thread } = await forumPost(client, threadId);
        return post(context, call, thread, message);
      },
      present: {
        sentence: ({ threadId }) =>
          t("I'll answer in the post {channel}", { channel: channelInSentence(client, threadId) }),
        action: 'Answer forum post',
        success: (_, posted) =>
          t('✓ Answered in <#{channelId}>: {messages}.', { channelId: posted.channelId, messages: idsText(posted) }),
        cancelled: () => t('Cancelled the answer.'),
      },
    }),
    discordTool({
      name: 'discord_delete_forum_post',
      description: 'Delete a forum post with all its answers. This cannot be undone.',
      input: z.object({ threadId: threadField, reason: reasonField }),
      risk: 'destructive',
      idempotent: true,
      access: { member: ['ViewChannel'], bot: ['ViewChannel', 'ManageThreads'] },
      place: ({ threadId }) => channelPlace(client, threadId),
      examples: ['delete the forum post {threadId}'],
      async run({ threadId, reason }, call) {
        const { post } = await forumPost(client, threadId);
        await requireThreadRights(context, call, post);
        await post.delete(auditReason(context.client, call.actor, reason));
        return viewThread(post);
      },
      present: {
        sentence: ({ threadId }) =>
          t("I'll delete the post {channel} with all its answers", {
            channel: channelInSentence(client, threadId),
          }),
        action: 'Delete forum post',
        success: (_, { id, name }) => t('✓ Deleted the post {name} ({id}).', { name: nameText(name), id }),
        cancelled: () => t('Cancelled deleting the post.'),
      },
    }),
    discordTool({
      name: 'discord_list_forum_threads',
      description: 'List the posts of a forum channel, the newest first.',
      input: z.object({
        forumChannelId: forumField,
        includeArchived: z.boolean().default(false).describe('Archived ones, too'),
        limit: z.number().int().min(1).max(100).default(50).describe('How many, at most 100'),
      }),
      risk: 'read',
      permissions: READING,
      place: ({ forumChannelId }) => channelPlace(client, forumChannelId),
      examples: ['list the posts in the forum {forumChannelId}'],
      async run({ forumChannelId, includeArchived, limit }, call) {
        const forum = await forumChannel(client, forumChannelId);
        const posts = await threadsIn(context, call, forum, { archived: includeArchived, limit });
        return { posts: posts.map(viewThread) };
      },
      sources: ({ posts }) => posts.map(({ id }) => channelSource(client, id)),
      present: {
        sentence: ({ forumChannelId }) =>
          t("I'll list the posts in {channel}", {
            channel: channelInSentence(client, forumChannelId),
          }),
        action: 'List forum posts',
        success: (_, { posts }) => (posts.length === 0 ? t('There are no posts.') : posts.map(threadText).join('\n')),
      },
    }),
    discordTool({
      name: 'discord_get_forum_tags',
      description: 'List the tags that posts of a forum channel can have.',
      input: z.object({ forumChannelId: forumField }),
      risk: 'read',
      permissions: ['ViewChannel'],
      place: ({ forumChannelId }) => channelPlace(client, forumChannelId),
      examples: ['which tags are there in the forum {forumChannelId}?'],
      run: async ({ forumChannelId }) => ({ tags: viewTags(await forumChannel(client, forumChannelId)) }),
      present: {
        sentence: ({ forumChannelId }) =>
          t("I'll list the tags of {channel}", {
            channel: channelInSentence(client, forumChannelId),
          }),
        action: 'List forum tags',
        success: (_, { tags }) => tagsText(tags),
      },
    }),
    discordTool({
      name: 'discord_set_forum_tags',
      description: 'Set the tags of a forum channel. A tag that keeps its name stays on the posts that have it.',
      input: z.object({
        forumChannelId: forumField,
        tags: z.array(tag).max(20).describe('All tags that the forum is to have; others go'),
        reason: reasonField,
      }),
      risk: 'destructive',
      idempotent: true,
      permissions: MANAGING,
      place: ({ forumChannelId }) => channelPlace(client, forumChannelId),
      async run({ forumChannelId, tags, reason }, call) {
        const forum = await forumChannel(client, forumChannelId);
        const wanted = tags.map((one) => tagData(forum, one));
        const edited = await forum.setAvailableTags(wanted, auditReason(context.client, call.actor, reason));
        return { tags: viewTags(edited) };
      },
      present: {
        sentence: ({ forumChannelId }) =>
          t("I'll set the tags of {channel}", {
            channel: channelInSentence(client, forumChannelId),
          }),
        action: 'Set forum tags',
        success: (_, { tags }) => `${t('✓ The tags are now:')}\n${tagsText(tags)}`,
        cancelled: () => t('Cancelled: the tags stay as they are.'),
      },
    }),
    discordTool({
      name: 'discord_update_forum_post',
      description: 'Change the title or the tags of a forum post; archive, open, lock or unlock it.',
      input: z.object({
        threadId: threadField,
        name: z.string().trim().min(1).max(100).optional().describe('The new title'),
        tags: z
          .array(z.string().max(100))
          .max(MOST_TAGS)
          .optional()
          .describe('All tags that it is to have: names or ids'),
        archived: z.boolean().optional().describe('Whether it is archived'),
        locked: z.boolean().optional().describe('Whether only moderators may answer'),
      }),
      risk: 'write',
      idempotent: true,
      permissions: ['ViewChannel'],
      place: ({ threadId }) => channelPlace(client, threadId),
      examples: ['rename the forum post {threadId} to {name}'],
      async run({ threadId, name, tags, archived, locked }, call) {
        const { post, forum } = await forumPost(client, threadId);
        await requireThreadRights(context, call, post);
        if (locked !== undefined) await demand(context, call, placeOf(post), 'ManageThreads');
        const appliedTags = tags === undefined ? undefined : await tagIds(context, call, forum, tags);
        const edited = await post.edit({
          ...defined({ name, appliedTags, archived, locked }),
          reason: auditReason(context.client, call.actor, undefined),
        });
        return viewThread(edited);
      },
      present: {
        sentence: ({ threadId }) =>
          t("I'll change the post {channel}", { channel: channelInSentence(client, threadId) }),
        action: 'Change forum post',
        success: (_, post) => `✓ ${threadText(post)}.`,
        cancelled: () => t('Cancelled: the post stays as it is.'),
      },
    }),
  ];
}

interface Forums {
  readonly forums: readonly {
    readonly id: string;
    readonly name: string;
    readonly topic: string | null;
    readonly tags: readonly TagView[];
  }[];
}

function forumText({ id, name, topic, tags }: Forums['forums'][number]): string {
  const facts = [
    t('{name} (forum {id})', { name: nameText(name), id }),
    ...(topic === null ? [] : [nameText(topic)]),
    ...(tags.length === 0 ? [] : [t('tags {tags}', { tags: tags.map((tag) => nameText(tag.name)).join(', ') })]),
  ];
  return facts.join(' · ');
}

interface Post {
  readonly post: ThreadView;
  /** The post's first message; missing when it was deleted. */
  readonly first?: MessageView;
  /** The latest answers, oldest first. */
  readonly latest: readonly MessageView[];
}

function postText({ post, first, latest }: Post): string {
  const begin = first === undefined ? t('The message that it began with was deleted.') : messageText(first);
  const answers = latest.length === 0 ? t('No answers yet.') : `${t('The latest answers:')}\n\n${messagesText(latest)}`;
  return [threadText(post), begin, answers].join('\n\n');
}

function tagData(forum: Forum, { name, moderated, emoji }: z.output<typeof tag>): GuildForumTagData {
  const present = forum.availableTags.find((one) => one.name.toLowerCase() === name.toLowerCase());
  const parsed = emoji === undefined ? undefined : parsedEmoji(emoji.trim());
  return {
    ...present,
    name,
    ...defined({ moderated }),
    ...(parsed === undefined
      ? {}
      : { emoji: parsed.id === undefined ? { id: null, name: parsed.name } : { id: parsed.id, name: null } }),
  };
}

interface TagView {
  readonly id: string;
  readonly name: string;
  /** Whether only members who manage threads may add the tag to a post. */
  readonly moderated: boolean;
  readonly emoji: string | null;
}

function viewTags({ availableTags }: Pick<Forum, 'availableTags'>): readonly TagView[] {
  return availableTags.map(({ id, name, moderated, emoji }) => ({
    id,
    name,
    moderated,
    emoji: emoji?.name ?? emoji?.id ?? null,
  }));
}

function tagsText(tags: readonly TagView[]): string {
  if (tags.length === 0) return t('no tags');
  return tags
    .map(({ id, name: plain, moderated, emoji }) => {
      const name = `${emoji === null ? '' : `${emoji} `}${nameText(plain)}`;
      return moderated ? t('{name} (tag {id}, for moderators)', { name, id }) : t('{name} (tag {id})', { name, id });
    })
    .join('\n');
}

/** Ids of the named tags. @throws UserError with the list of existing ones */
async function tagIds(context: Context, caller: Caller, forum: Forum, names: readonly string[]): Promise<string[]> {
  const wanted = names.map((name) => {
    const tag = forum.availableTags.find(
      (one) => one.id === name || one.name.toLowerCase() === name.trim().toLowerCase(),
    );
    if (tag !== undefined) return tag;
    const known = forum.availableTags.map((one) => nameText(one.name)).join(', ');
    throw new UserError(
      known === ''
        ? t('There is no tag {name} here. This forum has none.', { name: nameText(name) })
        : t('There is no tag {name} here. There are: {known}.', { name: nameText(name), known }),
    );
  });
  if (wanted.some(({ moderated }) => moderated) && !(await may(context, caller, placeOf(forum), ['ManageThreads']))) {
    throw new UserError(t('One of these tags is only for moderators.'));
  }
  return wanted.map(({ id }) => id);
}
