import {
  type APIApplicationCommandInteractionDataBasicOption,
  type APIApplicationCommandOption,
  ApplicationCommandOptionType,
  ApplicationCommandType,
  InteractionType,
} from 'discord-api-types/v10';
import { sendInteraction, startInteraction } from '../actions/interactions.js';
import { interactionBase } from '../payload/interaction.js';
import { nothingReferred } from '../payload/resolved.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalInteraction } from '../state/interaction.js';
import type { LocalUser, OptionValue } from '../state/user.js';
import type { World } from '../state/world.js';
import { findCommand, optionsAt } from './find-command.js';
import { fillOptions } from './slash-options.js';

type Option = APIApplicationCommandInteractionDataBasicOption<InteractionType.ApplicationCommandAutocomplete>;

/** Suggestions for one option of a slash command. The text need not be valid yet. */
export function autocomplete(
  world: World,
  user: LocalUser,
  channel: LocalChannel,
  path: string,
  focused: string,
  typed: string,
  given: Readonly<Record<string, OptionValue>>,
): LocalInteraction {
  const [name = '', ...words] = path.trim().split(/\s+/);
  const { application, command } = findCommand(world, user, channel, ApplicationCommandType.ChatInput, name);
  const declared = optionsAt(command, words);
  const option = declared.find((one) => one.name === focused);
  if (!option || !('autocomplete' in option) || !option.autocomplete)
    throw new Error(`"${focused}" has no autocompletion.`);
  const others = fillOptions({ world, channel, referred: nothingReferred() }, declared, given, true);
  const options: Option[] = [...others.map(asText), focusedOption(option, typed)];
  const interaction = startInteraction(world, application, user, channel, { kind: 'autocomplete', name: path });
  return sendInteraction(world, interaction, {
    ...interactionBase(interaction, world.clock.now()),
    type: InteractionType.ApplicationCommandAutocomplete,
    data: {
      id: command.id,
      name: command.name,
      type: ApplicationCommandType.ChatInput,
      ...(command.guild_id === undefined ? {} : { guild_id: command.guild_id }),
      options: nest(words, options),
    },
  });
}

/** While typing, Discord sends numbers as they stand in the field: text. */
function asText(option: ReturnType<typeof fillOptions>[number]): Option {
  switch (option.type) {
    case ApplicationCommandOptionType.Integer:
    case ApplicationCommandOptionType.Number:
      return { ...option, value: String(option.value) };
    default:
      return option;
  }
}

function focusedOption(option: APIApplicationCommandOption, typed: string): Option {
  const base = { name: option.name, value: typed, focused: true };
  switch (option.type) {
    case ApplicationCommandOptionType.Integer:
      return { ...base, type: ApplicationCommandOptionType.Integer };
    case ApplicationCommandOptionType.Number:
      return { ...base, type: ApplicationCommandOptionType.Number };
    default:
      return { ...base, type: ApplicationCommandOptionType.String };
  }
}

function nest(words: readonly string[], options: Option[]) {
  const [first, second] = words;
  if (first === undefined) return options;
  if (second === undefined) return [{ type: ApplicationCommandOptionType.Subcommand as const, name: first, options }];
  const inner = { type: ApplicationCommandOptionType.Subcommand as const, name: second, options };
  return [{ type: ApplicationCommandOptionType.SubcommandGroup as const, name: first, options: [inner] }];
}
