import { defined, type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import { ChannelType, type GuildChannel, type GuildChannelCreateOptions, type GuildChannelTypes } from 'discord.js';
import { categoryField, channelField, guildField, reasonField } from '../arguments.js';
import type { Context } from '../context.js';
import {
  auditReason,
  type Call,
  discordTool,
  type Named,
  namedOf,
  presentChange,
  presentCreate,
} from '../discord-tool.js';
import { channelInSentence } from '../names.js';
import { categoryChannel, categoryPlace, channelPlace, guildChannel, guildOf, guildPlace } from '../places.js';
import { may } from '../rights.js';

const MANAGING = ['ViewChannel', 'ManageChannels'] as const;
const nameField = z.string().trim().min(1).max(100).describe('Name');
const topicField = z.string().max(1024).optional().describe('What the channel is about');
const inCategoryField = z.string().max(30).optional().describe('The category to create it in: its id');
const positionField = z.number().int().min(0).max(500).optional().describe('Where in the list, from 0');

export function channelTools(context: Context): readonly ToolDefinition[] {
  const { client } = context;
  return [
    discordTool({
      name: 'discord_create_text_channel',
      description: 'Create a text channel.',
      input: z.object({
        guildId: guildField,
        channelName: nameField,
        topic: topicField,
        categoryId: inCategoryField,
        reason: reasonField,
      }),
      risk: 'write',
      permissions: MANAGING,
      place: ({ guildId, categoryId }) => categoryPlace(client, guildId, categoryId),
      examples: [
        'create a text channel called {channelName} in server {guildId}',
        'make a channel called {channelName} in server {guildId}',
      ],
      run: ({ channelName: name, topic, ...where }, call) =>
        createChannel(context, call, where, { type: ChannelType.GuildText, name, ...defined({ topic }) }),
      present: presentCreate('text channel', 'channelName'),
    }),
    discordTool({
      name: 'discord_create_voice_channel',
      description: 'Create a voice channel.',
      input: z.object({
        guildId: guildField,
        channelName: nameField,
        categoryId: inCategoryField,
        userLimit: z.number().int().min(0).max(99).optional().describe('How many may join; 0: any number'),
        reason: reasonField,
      }),
      risk: 'write',
      permissions: MANAGING,
      place: ({ guildId, categoryId }) => categoryPlace(client, guildId, categoryId),
      examples: ['create a voice channel called {channelName} in server {guildId}'],
      run: ({ channelName: name, userLimit, ...where }, call) =>
        createChannel(context, call, where, { type: ChannelType.GuildVoice, name, ...defined({ userLimit }) }),
      present: presentCreate('voice channel', 'channelName'),
    }),
    discordTool({
      name: 'discord_create_forum_channel',
      description: 'Create a forum channel.',
      input: z.object({
        guildId: guildField,
        name: nameField,
        topic: topicField,
        categoryId: inCategoryField,
        reason: reasonField,
      }),
      risk: 'write',
      permissions: MANAGING,
      place: ({ guildId, categoryId }) => categoryPlace(client, guildId, categoryId),
      examples: ['create a forum called {name} in server {guildId}'],
      run: ({ name, topic, ...where }, call) =>
        createChannel(context, call, where, { type: ChannelType.GuildForum, name, ...defined({ topic }) }),
      present: presentCreate('forum channel', 'name'),
    }),
    discordTool({
      name: 'discord_create_category',
      description: 'Create a category.',
      input: z.object({ guildId: guildField, name: nameField, position: positionField, reason: reasonField }),
      risk: 'write',
      permissions: MANAGING,
      place: ({ guildId }) => guildPlace(guildId),
      examples: ['create a category called {name} in server {guildId}'],
      run: ({ name, position, ...where }, call) =>
        createChannel(context, call, where, { type: ChannelType.GuildCategory, name, ...defined({ position }) }),
      present: presentCreate('category', 'name'),
    }),
    discordTool({
      name: 'discord_edit_channel',
      description: 'Change the name, topic, category or position of a channel.',
      input: z.object({
        channelId: channelField,
        name: nameField.optional(),
        topic: topicField,
        parentId: z
          .string()
          .max(30)
          .nullable()
          .optional()
          .describe('The category to move it to: its id; null: out of any'),
        position: positionField,
        reason: reasonField,
      }),
      risk: 'write',
      idempotent: true,
      permissions: MANAGING,
      place: ({ channelId }) => channelPlace(client, channelId),
      examples: ['rename the channel {channelId} to {name}', 'set the topic of {channelId} to {topic}'],
      async run({ channelId, name, topic, parentId, position, reason }, call) {
        const channel = await guildChannel(client, channelId);
        const parent = parentId == null ? parentId : await categoryToMoveTo(context, call, channel, parentId);
        return namedOf(
          await channel.edit({
            ...defined({ name, topic, position }),
            ...(parent === undefined ? {} : { parent, lockPermissions: false }),
            reason: auditReason(context, call, reason),
          }),
        );
      },
      present: {
        ...presentChange('change', 'channel', ({ channelId }: { channelId: string }) =>
          channelInSentence(client, channelId),
        ),
        cancelled: ({ channelId }) => `Cancelled changing ${channelInSentence(client, channelId)}.`,
      },
    }),
    discordTool({
      name: 'discord_edit_category',
      description: 'Change the name or position of a category.',
      input: z.object({
        categoryId: categoryField,
        name: nameField.optional(),
        position: positionField,
        reason: reasonField,
      }),
      risk: 'write',
      idempotent: true,
      permissions: MANAGING,
      place: ({ categoryId }) => channelPlace(client, categoryId),
      examples: ['rename the category {categoryId} to {name}'],
      async run({ categoryId, name, position, reason }, call) {
        const category = await categoryChannel(client, categoryId);
        const change = { ...defined({ name, position }), reason: auditReason(context, call, reason) };
        return namedOf(await category.edit(change));
      },
      present: presentChange('change', 'category', ({ categoryId }: { categoryId: string }) =>
        channelInSentence(client, categoryId),
      ),
    }),
    discordTool({
      name: 'discord_delete_channel',
      description: 'Delete a channel with everything in it. This cannot be undone.',
      input: z.object({ channelId: channelField, reason: reasonField }),
      risk: 'destructive',
      idempotent: true,
      permissions: MANAGING,
      place: ({ channelId }) => channelPlace(client, channelId),
      examples: ['delete the channel {channelId}'],
      async run({ channelId, reason }, call) {
        const channel = await guildChannel(client, channelId);
        await channel.delete(auditReason(context, call, reason));
        return namedOf(channel);
      },
      present: {
        ...presentChange(
          'delete',
          'channel',
          ({ channelId }: { channelId: string }) => channelInSentence(client, channelId),
          ' with everything in it',
        ),
        cancelled: ({ channelId }) => `Cancelled deleting ${channelInSentence(client, channelId)}.`,
      },
    }),
    discordTool({
      name: 'discord_delete_category',
      description: 'Delete a category. Its channels stay, and stand alone.',
      input: z.object({ categoryId: categoryField, reason: reasonField }),
      risk: 'destructive',
      idempotent: true,
      permissions: MANAGING,
      place: ({ categoryId }) => channelPlace(client, categoryId),
      examples: ['delete the category {categoryId}'],
      async run({ categoryId, reason }, call) {
        const category = await categoryChannel(client, categoryId);
        await category.delete(auditReason(context, call, reason));
        return namedOf(category);
      },
      present: presentChange('delete', 'category', ({ categoryId }: { categoryId: string }) =>
        channelInSentence(client, categoryId),
      ),
    }),
  ];
}

interface Where {
  readonly guildId: string;
  readonly categoryId?: string | undefined;
  readonly reason?: string | undefined;
}

interface Wanted extends Pick<GuildChannelCreateOptions, 'topic' | 'userLimit' | 'position'> {
  readonly name: string;
  readonly type: Exclude<GuildChannelTypes, ChannelType.GuildDirectory>;
}

/** Creates a channel; within a category it starts with the category's permissions. */
async function createChannel(
  context: Context,
  call: Call,
  { guildId, categoryId, reason }: Where,
  wanted: Wanted,
): Promise<Named> {
  const guild = guildOf(context.client, guildId);
  const parent = categoryId === undefined ? null : await categoryChannel(context.client, categoryId);
  if (parent !== null && parent.guildId !== guild.id) throw new UserError('That category is not in this server.');
  return namedOf(await guild.channels.create({ ...wanted, parent, reason: auditReason(context, call, reason) }));
}

/** A category that the requester manages as well: a channel is not moved out of their reach. @throws UserError */
async function categoryToMoveTo(context: Context, call: Call, channel: GuildChannel, parentId: string) {
  const place = await channelPlace(context.client, parentId);
  if (place.guildId !== channel.guildId || !(await may(context, call, place, MANAGING, MANAGING))) {
    throw new UserError('There is no category with that id to which it can be moved.');
  }
  return categoryChannel(context.client, parentId);
}
