import {
  nameText,
  type ToolContext,
  type ToolDefinition,
  type ToolInput,
  type ToolPresentation,
  withRefusalSentences,
  type z,
} from '@cinnabar/sdk';
import type { PermissionsString } from 'discord.js';
import type { Caller } from './settings.js';

/** What `run` of a tool gets: the call, and through which tool it came. */
export interface Call extends ToolContext, Caller {}

type DiscordTool<S extends ToolInput, O> = Omit<ToolDefinition<S, O>, 'run'> & {
  /** What the member and the bot both need, in the place of the call. */
  readonly permissions?: readonly PermissionsString[];
  run(input: z.output<S>, call: Call): O | Promise<O>;
};

/** A tool whose refusals by Discord reach the caller as sentences. `run` stands before `present`, which takes its result. */
export function discordTool<S extends ToolInput, O>({
  permissions,
  ...definition
}: DiscordTool<S, O>): ToolDefinition<S, O> {
  const { place, run, name: tool } = definition;
  return {
    ...definition,
    ...(permissions === undefined ? {} : { access: { member: permissions, bot: permissions } }),
    ...(place === undefined ? {} : { place: (input) => withRefusalSentences(() => place(input)) }),
    run: (input, call) => withRefusalSentences(() => run(input, { ...call, tool })),
  };
}

/** What was created, changed or deleted. */
export interface Named {
  readonly id: string;
  readonly name: string;
}

export const namedOf = ({ id, name }: Named): Named => ({ id, name });

/** How a tool presents that it creates something whose name is the argument `field`. */
export function presentCreate<Field extends string>(
  what: string,
  field: Field,
): ToolPresentation<{ readonly [K in Field]: string }, Named> {
  return {
    sentence: ({ [field]: name }) => `I'll create the ${what} ${name}`,
    said: [field],
    action: `Create ${what}`,
    success: (_, { id, name }) => `✓ Created the ${what} ${nameText(name)} (${id}).`,
    cancelled: ({ [field]: name }) => `Cancelled creating the ${what} ${name}.`,
  };
}

const VERBS = {
  change: { action: 'Change', done: 'Changed', doing: 'changing' },
  delete: { action: 'Delete', done: 'Deleted', doing: 'deleting' },
} as const;

/** How a tool presents that it changes or deletes something; `target` says which in the question, `extent` how much goes with it. */
export function presentChange<Input>(
  verb: 'change' | 'delete',
  what: string,
  target: (input: Input) => string,
  extent = '',
): ToolPresentation<Input, Named> {
  const { action, done, doing } = VERBS[verb];
  return {
    sentence: (input) => `I'll ${verb} the ${what} ${target(input)}${extent}`,
    action: `${action} ${what}`,
    success: (_, { id, name }) => `✓ ${done} the ${what} ${nameText(name)} (${id}).`,
    cancelled: () => `Cancelled ${doing} the ${what}.`,
  };
}
