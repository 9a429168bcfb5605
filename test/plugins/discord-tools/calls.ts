import type { Input } from './harness.js';
import type { Things } from './things.js';

/** A call on a set of objects, and the members who may make it. */
export interface Call {
  /** Whether a plain member may make it; the owner and the moderator may make every call. */
  readonly plain: boolean;
  readonly input: (things: Things) => Input;
}

const message = ({ channel, message }: Things) => ({ channelId: channel.id, messageId: message.id });

/** A valid call of every tool. Tests that iterate over all tools fail for a missing one. */
export const CALLS: Readonly<Record<string, Call>> = {
  discord_send: { plain: true, input: ({ channel }) => ({ channelId: channel.id, message: 'hello there' }) },
  discord_read_messages: { plain: true, input: ({ channel }) => ({ channelId: channel.id }) },
  discord_read_message: { plain: true, input: message },
  discord_search_messages: { plain: true, input: ({ guildId }) => ({ guildId, content: 'zebra' }) },
  discord_edit_message: {
    plain: false,
    input: ({ channel, sent }) => ({ channelId: channel.id, messageId: sent, content: 'changed' }),
  },
  discord_delete_message: { plain: false, input: message },
  discord_pin_message: { plain: false, input: message },
  discord_unpin_message: { plain: false, input: message },
  discord_list_pins: { plain: true, input: ({ channel }) => ({ channelId: channel.id }) },
  discord_add_reaction: { plain: true, input: (things) => ({ ...message(things), emoji: '👍' }) },
  discord_add_multiple_reactions: { plain: true, input: (things) => ({ ...message(things), emojis: ['👍', '🎉'] }) },
  discord_remove_reaction: { plain: true, input: (things) => ({ ...message(things), emoji: '🔥' }) },
  discord_get_reaction_users: { plain: true, input: (things) => ({ ...message(things), emoji: '🔥' }) },
  discord_list_servers: { plain: true, input: () => ({}) },
  discord_get_server_info: { plain: true, input: ({ guildId }) => ({ guildId }) },
  discord_create_text_channel: {
    plain: false,
    input: ({ guildId, category }) => ({ guildId, channelName: 'made', categoryId: category.id }),
  },
  discord_create_voice_channel: {
    plain: false,
    input: ({ guildId, category }) => ({ guildId, channelName: 'made', categoryId: category.id, userLimit: 3 }),
  },
  discord_create_forum_channel: {
    plain: false,
    input: ({ guildId, category }) => ({ guildId, name: 'made', categoryId: category.id }),
  },
  discord_create_category: { plain: false, input: ({ guildId }) => ({ guildId, name: 'made' }) },
  discord_edit_channel: { plain: false, input: ({ channel }) => ({ channelId: channel.id, topic: 'changed' }) },
  discord_edit_category: { plain: false, input: ({ category }) => ({ categoryId: category.id, name: 'changed' }) },
  discord_delete_channel: { plain: false, input: ({ channel }) => ({ channelId: channel.id }) },
  discord_delete_category: { plain: false, input: ({ category }) => ({ categoryId: category.id }) },
  discord_set_channel_permissions: {
    plain: false,
    input: ({ channel, role }) => ({ channelId: channel.id, roleId: role.id, deny: ['SendMessages'] }),
  },
  discord_remove_channel_permissions: {
    plain: false,
    input: ({ channel, role }) => ({ channelId: channel.id, roleId: role.id }),
  },
  discord_create_thread: {
    plain: true,
    input: ({ channel }) => ({ channelId: channel.id, name: 'made', message: 'hi' }),
  },
  discord_list_threads: { plain: true, input: ({ channel }) => ({ channelId: channel.id, includeArchived: true }) },
  discord_join_thread: { plain: true, input: ({ thread }) => ({ threadId: thread.id }) },
  discord_archive_thread: { plain: false, input: ({ thread }) => ({ threadId: thread.id, locked: true }) },
  discord_delete_thread: { plain: false, input: ({ thread }) => ({ threadId: thread.id }) },
  discord_get_forum_channels: { plain: true, input: ({ guildId }) => ({ guildId }) },
  discord_create_forum_post: {
    plain: true,
    input: ({ forum }) => ({ forumChannelId: forum.id, title: 'made', content: 'hi' }),
  },
  discord_get_forum_post: { plain: true, input: ({ post }) => ({ threadId: post.id }) },
  discord_reply_to_forum: { plain: true, input: ({ post }) => ({ threadId: post.id, message: 'hi' }) },
  discord_delete_forum_post: { plain: false, input: ({ post }) => ({ threadId: post.id }) },
  discord_list_forum_threads: {
    plain: true,
    input: ({ forum }) => ({ forumChannelId: forum.id, includeArchived: true }),
  },
  discord_get_forum_tags: { plain: true, input: ({ forum }) => ({ forumChannelId: forum.id }) },
  discord_set_forum_tags: {
    plain: false,
    input: ({ forum }) => ({ forumChannelId: forum.id, tags: [{ name: 'new' }] }),
  },
  discord_update_forum_post: {
    plain: false,
    input: ({ post }) => ({ threadId: post.id, name: 'changed', locked: true }),
  },
  discord_create_webhook: { plain: false, input: ({ channel }) => ({ channelId: channel.id, name: 'made' }) },
  discord_list_webhooks: { plain: false, input: ({ channel }) => ({ channelId: channel.id }) },
  discord_send_webhook_message: { plain: false, input: ({ webhook }) => ({ webhookId: webhook, content: 'hi' }) },
  discord_edit_webhook: { plain: false, input: ({ webhook }) => ({ webhookId: webhook, name: 'changed' }) },
  discord_delete_webhook: { plain: false, input: ({ webhook }) => ({ webhookId: webhook }) },
  discord_list_roles: { plain: true, input: ({ guildId }) => ({ guildId }) },
  discord_create_role: { plain: false, input: ({ guildId }) => ({ guildId, name: 'made' }) },
  discord_edit_role: { plain: false, input: ({ guildId, role }) => ({ guildId, roleId: role.id, name: 'changed' }) },
  discord_delete_role: { plain: false, input: ({ guildId, role }) => ({ guildId, roleId: role.id }) },
  discord_assign_role: {
    plain: false,
    input: ({ guildId, role, member }) => ({ guildId, roleId: role.id, userId: member.id }),
  },
  discord_remove_role: {
    plain: false,
    input: ({ guildId, role, member }) => ({ guildId, roleId: role.id, userId: member.id }),
  },
  discord_list_members: { plain: true, input: ({ guildId }) => ({ guildId }) },
  discord_get_member: { plain: true, input: ({ guildId, member }) => ({ guildId, userId: member.id }) },
  discord_timeout_member: {
    plain: false,
    input: ({ guildId, member }) => ({ guildId, userId: member.id, seconds: 60 }),
  },
  discord_remove_timeout: { plain: false, input: ({ guildId, member }) => ({ guildId, userId: member.id }) },
};
