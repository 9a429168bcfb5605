import { z } from '@cinnabar/sdk';

/** Arguments that many tools have. */

export const channelField = z.string().min(1).max(200).describe('Channel or thread: id, <#id> or link');

export const messageField = z.string().min(1).max(200).describe('Message: id or link');

export const threadField = z.string().min(1).max(200).describe('Thread: id, <#id> or link');

export const forumField = z.string().min(1).max(200).describe('Forum channel: id, <#id> or link');

export const categoryField = z.string().min(1).max(200).describe('Category: id');

export const emojiField = z
  .string()
  .min(1)
  .max(100)
  .describe('Emoji: 👍, <:name:id>, or the name of one of this server');

export const guildField = z.string().min(1).max(30).describe('Server (guild): id');

export const userField = z.string().min(1).max(30).describe('Member: user id');

export const roleField = z.string().min(1).max(30).describe('Role: id');

export const webhookField = z.string().min(1).max(30).describe('Webhook: id');

export const reasonField = z.string().max(400).optional().describe('For the audit log');

export const textField = z
  .string()
  .min(1)
  .max(20_000)
  .describe('Text, in Markdown; over 2,000 characters it becomes several messages');
