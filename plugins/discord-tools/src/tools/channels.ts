import {
  type Actor,
  auditReason,
  defined,
  nameText,
  ranksIn,
  requireAboveRole,
  type ToolDefinition,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import {
  type CategoryChannel,
  ChannelType,
  type GuildChannel,
  type GuildChannelCreateOptions,
  type GuildChannelTypes,
  PermissionsBitField,
  type Role,
} from 'discord.js';
import {
  categoryField,
  channelField,
  guildField,
  permissionsField,
  readPermissions,
  reasonField,
  roleField,
} from '../arguments.js';
import {
  type Call,
  discordTool,
  type Named,
  namedOf,
  presentChange,
  presentCreate,
  presentDelete,
} from '../discord-tool.js';
import {
  categoryChannel,
  categoryPlace,
  channelInSentence,
  channelOf,
  channelPlace,
  channelRoleInSentence,
  guildChannel,
  guildOf,
  guildPlace,
  roleOf,
} from '../places.js';
import { may, requireHeld } from '../rights.js';
import type { Context } from '../settings.js';

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
      present: presentCreate('text', 'Create text channel', 'channelName'),
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
      present: presentCreate('voice', 'Create voice channel', 'channelName'),
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
      present: presentCreate('forum', 'Create forum channel', 'name'),
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
      present: presentCreate('category', 'Create category', 'name'),
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
            reason: auditReason(context.client, call.actor, reason),
          }),
        );
      },
      present: {
        ...presentChange('channel', 'Change channel', ({ channelId }: { channelId: string }) =>
          channelInSentence(client, channelId),
        ),
        cancelled: ({ channelId }) =>
          t('Cancelled changing {channel}.', { channel: channelInSentence(client, channelId) }),
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
        const change = { ...defined({ name, position }), reason: auditReason(context.client, call.actor, reason) };
        return namedOf(await category.edit(change));
      },
      present: presentChange('category', 'Change category', ({ categoryId }: { categoryId: string }) =>
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
        await channel.delete(auditReason(context.client, call.actor, reason));
        return namedOf(channel);
      },
      present: {
        ...presentDelete('channel', 'Delete channel', ({ channelId }: { channelId: string }) =>
          channelInSentence(client, channelId),
        ),
        cancelled: ({ channelId }) =>
          t('Cancelled deleting {channel}.', { channel: channelInSentence(client, channelId) }),
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
        await category.delete(auditReason(context.client, call.actor, reason));
        return namedOf(category);
      },
      present: presentDelete('category', 'Delete category', ({ categoryId }: { categoryId: string }) =>
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
  if (parent !== null && parent.guildId !== guild.id) throw new UserError(t('That category is not in this server.'));
  return namedOf(
    await guild.channels.create({ ...wanted, parent, reason: auditReason(context.client, call.actor, reason) }),
  );
}

/** A category that the requester manages, too, so that a channel is not moved out of the requester's reach. @throws UserError */
async function categoryToMoveTo(context: Context, call: Call, channel: GuildChannel, parentId: string) {
  const place = await channelPlace(context.client, parentId);
  if (place.guildId !== channel.guildId || !(await may(context, call, place, MANAGING, MANAGING))) {
    throw new UserError(t('There is no category with that id to which it can be moved.'));
  }
  return categoryChannel(context.client, parentId);
}

const MANAGING_PERMISSIONS = ['ViewChannel', 'ManageRoles'] as const;

/** The permissions of roles in one channel or category. */
export function channelPermissionTools(context: Context): readonly ToolDefinition[] {
  const { client } = context;
  return [
    discordTool({
      name: 'discord_set_channel_permissions',
      description:
        'Allow or deny permissions to a role in one channel or category. Permissions that are not named stay as they are.',
      input: z.object({
        channelId: channelField,
        roleId: roleField.describe("The role: its id; for everyone the server's id"),
        allow: permissionsField.default([]).describe('Permissions to allow there, such as SendMessages'),
        deny: permissionsField.default([]).describe('Permissions to deny there'),
        reason: reasonField,
      }),
      risk: 'destructive',
      idempotent: true,
      permissions: MANAGING_PERMISSIONS,
      place: ({ channelId }) => channelPlace(client, channelId),
      async run({ channelId, roleId, allow, deny, reason }, call) {
        const [allowed, denied] = [readPermissions(allow), readPermissions(deny)];
        if (allow.length + deny.length === 0) throw new UserError(t('Say which permissions to allow or to deny.'));
        if ((allowed.bitfield & denied.bitfield) !== 0n)
          throw new UserError(t('A permission cannot be both allowed and denied.'));
        const { channel, role, held } = await managedRole(context, call.actor, channelId, roleId);
        requireHeld(held, new PermissionsBitField(allowed.bitfield | denied.bitfield));
        const changes = Object.fromEntries([
          ...allowed.toArray().map((name) => [name, true]),
          ...denied.toArray().map((name) => [name, false]),
        ]);
        await channel.permissionOverwrites.edit(role, changes, {
          reason: auditReason(context.client, call.actor, reason),
        });
        return { channelId: channel.id, role: role.name };
      },
      present: {
        sentence: ({ channelId, roleId }) =>
          t("I'll change what {role} may do in {channel}", {
            role: channelRoleInSentence(client, channelId, roleId),
            channel: channelInSentence(client, channelId),
          }),
        action: 'Change channel permissions',
        success: (_, { channelId, role }) =>
          t('✓ Changed what {name} may do in <#{channelId}>.', { name: nameText(role), channelId }),
        cancelled: () => t('Cancelled changing permissions.'),
      },
    }),
    discordTool({
      name: 'discord_remove_channel_permissions',
      description: 'Take back everything that a channel or category allows or denies to a role.',
      input: z.object({ channelId: channelField, roleId: roleField, reason: reasonField }),
      risk: 'destructive',
      idempotent: true,
      permissions: MANAGING_PERMISSIONS,
      place: ({ channelId }) => channelPlace(client, channelId),
      async run({ channelId, roleId, reason }, call) {
        const { channel, role, held } = await managedRole(context, call.actor, channelId, roleId);
        const own = channel.permissionOverwrites.cache.get(role.id);
        if (own === undefined) throw new UserError(t('That role has no permissions of its own in this channel.'));
        requireHeld(held, new PermissionsBitField(own.allow.bitfield | own.deny.bitfield));
        await own.delete(auditReason(context.client, call.actor, reason));
        return { channelId: channel.id, role: role.name };
      },
      present: {
        sentence: ({ channelId, roleId }) =>
          t("I'll take back the permissions of {role} in {channel}", {
            role: channelRoleInSentence(client, channelId, roleId),
            channel: channelInSentence(client, channelId),
          }),
        action: 'Remove channel permissions',
        success: (_, { channelId, role }) =>
          t('✓ {name} has no permissions of its own in <#{channelId}> any more.', {
            name: nameText(role),
            channelId,
          }),
        cancelled: () => t('Cancelled changing permissions.'),
      },
    }),
  ];
}

interface ManagedRole {
  readonly channel: GuildChannel | CategoryChannel;
  readonly role: Role;
  /** The requester's permissions there. */
  readonly held: Readonly<PermissionsBitField>;
}

/** A channel and a role, if the role is below the requester's. @throws UserError */
async function managedRole({ client }: Context, actor: Actor, channelId: string, roleId: string): Promise<ManagedRole> {
  const channel = await channelOf(client, channelId);
  if (channel.isDMBased() || channel.isThread())
    throw new UserError(t('Only channels and categories of a server have permissions.'));
  const role = roleOf(channel.guild, roleId);
  const ranks = await ranksIn(channel.guild, actor);
  // Every member has the role @everyone, so its position does not matter.
  if (role.id !== channel.guild.id) requireAboveRole(ranks, role);
  return { channel, role, held: channel.permissionsFor(ranks.asking) };
}
