import { ChannelType, OverwriteType } from 'discord-api-types/v10';
import { z } from 'zod';
import { messageForm } from './message.js';
import { snowflake } from './snowflake.js';

const bits = z.union([z.string().regex(/^\d+$/), z.number().int()]).transform((value) => BigInt(value));

export const overwriteForm = z.object({
  type: z.enum(OverwriteType),
  allow: bits.nullish(),
  deny: bits.nullish(),
});

const name = z.string().min(1).max(100);
const topic = z.string().max(1_024).nullish();
const slowmode = z.number().int().min(0).max(21_600).nullish();
const tag = z.object({
  /** Of a tag that stays. */
  id: snowflake.nullish(),
  name: z.string().min(1).max(20),
  moderated: z.boolean().optional(),
  emoji_name: z.string().nullish(),
});

export const channelForm = z.object({
  name,
  type: z.enum(ChannelType).nullish(),
  topic,
  nsfw: z.boolean().nullish(),
  position: z.number().int().nullish(),
  parent_id: snowflake.nullish(),
  rate_limit_per_user: slowmode,
  user_limit: z.number().int().min(0).max(10_000).nullish(),
  permission_overwrites: z.array(overwriteForm.extend({ id: snowflake })).nullish(),
  available_tags: z.array(tag).nullish(),
});

export const channelEditForm = channelForm.partial().extend({
  archived: z.boolean().optional(),
  locked: z.boolean().optional(),
  invitable: z.boolean().optional(),
  auto_archive_duration: z.number().int().optional(),
  applied_tags: z.array(snowflake).optional(),
});

export const threadForm = z.object({
  name,
  type: z.enum(ChannelType).nullish(),
  auto_archive_duration: z.number().int().nullish(),
  invitable: z.boolean().nullish(),
  rate_limit_per_user: slowmode,
  applied_tags: z.array(snowflake).nullish(),
  message: messageForm.nullish(),
});
