import type { CommandDefinition, GroupDefinition, Subcommand, Subgroup } from './commands.js';
import type { OptionShape, OptionValues } from './options.js';

/** One command of a `group`, with its option types inferred. */
export function subcommand<const O extends OptionShape = Record<never, never>>(
  definition: CommandDefinition<O>,
): Subcommand {
  return {
    ...definition,
    kind: 'command',
    // The router hands over exactly what this command's own schemas produced.
    run: (context, options) => definition.run(context, options as OptionValues<O>),
  };
}

/** A group inside a group: `!config channel set`. */
export function subgroup(
  definition: Omit<GroupDefinition, 'commands'> & { readonly commands: readonly Subcommand[] },
): Subgroup {
  return { ...definition, kind: 'group' };
}
