import { z } from '@cinnabar/sdk';

/** Arguments that many tools have. */

export const channelField = z
  .string()
  .min(1)
  .max(200)
  .describe('The channel or thread: its id, its mention <#id>, or a Discord link to it');

export const messageField = z.string().min(1).max(200).describe('The message: its id, or a Discord link to it');

export const threadField = z
  .string()
  .min(1)
  .max(200)
  .describe('The thread: its id, its mention <#id>, or a Discord link to it');

export const forumField = z
  .string()
  .min(1)
  .max(200)
  .describe('The forum channel: its id, its mention <#id>, or a Discord link to it');

export const categoryField = z.string().min(1).max(200).describe('The category: its id');

export const guildField = z.string().min(1).max(30).describe('The server (guild): its id');

export const userField = z.string().min(1).max(30).describe('The member: their user id');

export const roleField = z.string().min(1).max(30).describe('The role: its id');

export const webhookField = z.string().min(1).max(30).describe('The webhook: its id');

export const reasonField = z.string().max(400).optional().describe("Why, for the server's audit log");

export const textField = z
  .string()
  .min(1)
  .max(20_000)
  .describe('The text, in Markdown. Over 2,000 characters it becomes several messages');
