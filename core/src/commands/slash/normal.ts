import { z } from '@cinnabar/sdk';
import type { SlashScope } from './scope.js';

/** Discord adds ids and defaults, and leaves out what is empty; in this form its list and ours can be compared. */
const choice = z.object({ name: z.string(), value: z.union([z.string(), z.number()]) });

const leafOption = z.object({
  type: z.number(),
  name: z.string(),
  description: z.string(),
  required: orElse(z.boolean(), false),
  autocomplete: orElse(z.boolean(), false),
  choices: orElse(z.array(choice), []),
  channel_types: orElse(z.array(z.number()), []),
  min_value: orElse(z.number().nullable(), null),
  max_value: orElse(z.number().nullable(), null),
  min_length: orElse(z.number().nullable(), null),
  max_length: orElse(z.number().nullable(), null),
});
const innerOption = leafOption.extend({ options: orElse(z.array(leafOption), []) });
const option = leafOption.extend({ options: orElse(z.array(innerOption), []) });

const command = z.object({
  name: z.string(),
  description: z.string(),
  default_member_permissions: orElse(z.string().nullable(), null),
  contexts: orElse(z.array(z.number()).nullable(), null),
  options: orElse(z.array(option), []),
});

/** A slash command in the form in which two are compared. */
export type NormalCommand = z.output<typeof command>;

/** @throws ZodError when it is no command at all */
export function normalise(payload: unknown, scope: SlashScope): NormalCommand {
  const normal = command.parse(payload);
  // Contexts mean something for global commands only; whatever Discord says of them in a guild is no difference.
  return scope === 'guild' ? { ...normal, contexts: null } : { ...normal, default_member_permissions: null };
}

function orElse<T extends z.ZodType>(schema: T, value: z.output<T>) {
  return schema.nullish().transform((given) => given ?? value);
}
