import {
  ApplicationCommandOptionType,
  type Attachment,
  type AutocompleteInteraction,
  type ChatInputCommandInteraction,
  type CommandInteractionOption,
} from 'discord.js';
import type { GivenValue } from '../options/convert.js';
import type { CommandEntry, Entry } from '../registry/entry.js';

type Interaction = ChatInputCommandInteraction | AutocompleteInteraction;

/** The command that an interaction names; `undefined` when Discord knows one that is registered no longer. */
export function commandOf(
  interaction: Interaction,
  find: (name: string) => Entry | undefined,
): CommandEntry | undefined {
  const words = [interaction.options.getSubcommandGroup(false), interaction.options.getSubcommand(false)];
  let entry = find(interaction.commandName);
  for (const word of words) {
    if (word !== null) entry = entry?.kind === 'group' ? entry.byName.get(word) : undefined;
  }
  return entry?.kind === 'command' && entry.surface !== 'prefix' ? entry : undefined;
}

/** Values by option, as the parser of options takes them: things with an id as that id. */
export function givenBy(interaction: Interaction): ReadonlyMap<string, GivenValue> {
  return new Map(
    innermost(interaction.options.data).flatMap(({ name, value }) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  );
}

/** Files that came with the interaction, by id. */
export function attachmentsOf(interaction: Interaction): ReadonlyMap<string, Attachment> {
  return new Map(
    innermost(interaction.options.data).flatMap(({ attachment }) =>
      attachment === undefined ? [] : [[attachment.id, attachment] as const],
    ),
  );
}

function innermost(options: readonly CommandInteractionOption[]): readonly CommandInteractionOption[] {
  const [first] = options;
  const nested =
    first?.type === ApplicationCommandOptionType.Subcommand ||
    first?.type === ApplicationCommandOptionType.SubcommandGroup;
  return nested ? innermost(first.options ?? []) : options;
}
