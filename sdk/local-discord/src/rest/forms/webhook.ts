import { z } from 'zod';
import { messageForm } from './message.js';
import { snowflake } from './snowflake.js';

const name = z
  .string()
  .min(1)
  .max(80)
  .refine((text) => !/clyde|discord/i.test(text), {
    error: 'Username cannot contain "discord"',
    params: { code: 'USERNAME_INVALID_CONTAINS' },
  });

export const webhookForm = z.object({ name, avatar: z.string().nullish() });

export const webhookEditForm = z.object({
  name: name.optional(),
  avatar: z.string().nullish(),
  channel_id: snowflake.optional(),
});

export const webhookExecuteForm = z.object({
  ...messageForm.shape,
  username: name.nullish(),
  avatar_url: z.string().nullish(),
  thread_name: z.string().min(1).max(100).nullish(),
});
