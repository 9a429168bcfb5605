import {
  type APIApplicationCommandInteractionDataOption,
  ApplicationCommandOptionType,
  ApplicationCommandType,
  InteractionType,
} from 'discord-api-types/v10';
import { sendInteraction, startInteraction } from '../actions/interactions.js';
import { interactionBase } from '../payload/interaction.js';
import { nothingReferred, resolvedPayload } from '../payload/resolved.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalInteraction } from '../state/interaction.js';
import type { LocalUser, OptionValue, SlashOptions } from '../state/user.js';
import type { World } from '../state/world.js';
import { findCommand, optionsAt } from './find-command.js';
import { type BasicOption, fillOptions } from './slash-options.js';

/** `/command`, `/command sub` or `/command group sub`. */
export function useSlashCommand(
  world: World,
  user: LocalUser,
  channel: LocalChannel,
  path: string,
  given: Readonly<Record<string, OptionValue>>,
  more: SlashOptions,
): LocalInteraction {
  const [name = '', ...words] = path.trim().split(/\s+/);
  const { application, command } = findCommand(
    world,
    user,
    channel,
    ApplicationCommandType.ChatInput,
    name,
    more.application,
  );
  const referred = nothingReferred();
  const options = fillOptions({ world, channel, referred }, optionsAt(command, words), given);
  const interaction = startInteraction(world, application, user, channel, { kind: 'command', name: path, menu: false });
  const resolved = resolvedPayload(referred, channel.guild, user, world.clock.now());
  return sendInteraction(world, interaction, {
    ...interactionBase(interaction, world.clock.now()),
    type: InteractionType.ApplicationCommand,
    data: {
      id: command.id,
      name: command.name,
      type: ApplicationCommandType.ChatInput,
      ...(command.guild_id === undefined ? {} : { guild_id: command.guild_id }),
      options: nest(words, options),
      ...(Object.keys(resolved).length > 0 ? { resolved } : {}),
    },
  });
}

/** Puts the options under their subcommand and group. */
function nest(
  words: readonly string[],
  options: BasicOption[],
): APIApplicationCommandInteractionDataOption<InteractionType.ApplicationCommand>[] {
  const [first, second] = words;
  if (first === undefined) return options;
  if (second === undefined) return [{ type: ApplicationCommandOptionType.Subcommand, name: first, options }];
  const inner = { type: ApplicationCommandOptionType.Subcommand as const, name: second, options };
  return [{ type: ApplicationCommandOptionType.SubcommandGroup, name: first, options: [inner] }];
}
