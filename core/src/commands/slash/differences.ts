import { z } from '@cinnabar/sdk';
import type { SlashScope } from './payload.js';

/** What must change for Discord's list to become ours: `+roll`, `-ban`, `~roll.options.0.min_value`. */
export function* commandDifferences(
  theirs: readonly NormalCommand[],
  ours: readonly NormalCommand[],
): Generator<string> {
  const wanted = new Map(ours.map((command) => [command.name, command]));
  for (const command of theirs) {
    const counterpart = wanted.get(command.name);
    if (counterpart === undefined) yield `-${command.name}`;
    else yield* differingPaths(`~${command.name}`, command, counterpart);
    wanted.delete(command.name);
  }
  for (const name of wanted.keys()) yield `+${name}`;
}

/** Where two values differ: `options.0.min_value`. */
function* differingPaths(path: string, before: unknown, after: unknown): Generator<string> {
  if (Object.is(before, after)) return;
  if (!isComposite(before) || !isComposite(after)) {
    yield path;
    return;
  }
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const key of keys) yield* differingPaths(`${path}.${key}`, get(before, key), get(after, key));
}

function isComposite(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function get(value: object, key: string): unknown {
  return Reflect.get(value, key);
}

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
