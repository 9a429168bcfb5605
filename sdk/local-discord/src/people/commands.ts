import {
  type APIApplicationCommandInteractionDataBasicOption,
  type APIApplicationCommandOption,
  type APIApplicationCommandSubcommandGroupOption,
  type APIApplicationCommandSubcommandOption,
  ApplicationCommandOptionType,
  ApplicationCommandType,
  InteractionContextType,
  InteractionType,
  PermissionFlagsBits,
} from 'discord-api-types/v10';
import { discordError } from '../errors.js';
import { interactionBase, nothingReferred, resolvedPayload, resolvedUsers } from '../payload/interactions.js';
import { messagePayload } from '../payload/messages.js';
import { sendInteraction, startInteraction } from '../resources/interactions.js';
import { fullViewer } from '../rules/messages.js';
import { channelPermissions, requireInChannel } from '../rules/permissions.js';
import type { LocalApplication, LocalCommand } from '../state/applications.js';
import type { LocalChannel } from '../state/channels.js';
import type { LocalInteraction } from '../state/interactions.js';
import { LocalMessage } from '../state/messages.js';
import type { LocalUser, OptionValue, SlashOptions } from '../state/users.js';
import type { World } from '../world.js';
import { fillOptions } from './slash-options.js';

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

/** Runs a command from the context menu of a message, or of a user (then in the channel where the menu was opened). */
export function useContextMenu(
  world: World,
  user: LocalUser,
  name: string,
  target: LocalMessage | LocalUser,
  where?: LocalChannel,
): LocalInteraction {
  const channel = target instanceof LocalMessage ? target.channel : where;
  if (!channel) throw new Error('Say in which channel the menu was opened.');
  const type = target instanceof LocalMessage ? ApplicationCommandType.Message : ApplicationCommandType.User;
  const { application, command } = findCommand(world, user, channel, type, name);
  const interaction = startInteraction(world, application, user, channel, { kind: 'command', name, menu: true });
  const base = {
    ...interactionBase(interaction, world.clock.now()),
    type: InteractionType.ApplicationCommand as const,
  };
  const data = {
    id: command.id,
    name: command.name,
    target_id: target.id,
    ...(command.guild_id === undefined ? {} : { guild_id: command.guild_id }),
  };
  if (target instanceof LocalMessage) {
    const messages = { [target.id]: messagePayload(target, fullViewer(application.id)) };
    return sendInteraction(world, interaction, {
      ...base,
      data: { ...data, type: ApplicationCommandType.Message, resolved: { messages } },
    });
  }
  const resolved = resolvedUsers([target], channel.guild, world.clock.now());
  return sendInteraction(world, interaction, {
    ...base,
    data: { ...data, type: ApplicationCommandType.User, resolved },
  });
}

type Option = APIApplicationCommandInteractionDataBasicOption<InteractionType.ApplicationCommandAutocomplete>;

/** Requests suggestions for one option of a slash command. The text need not be valid yet. */
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

/** During autocompletion, Discord sends numbers as the typed text. */
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

function nest<O>(words: readonly string[], options: O[]) {
  const [first, second] = words;
  if (first === undefined) return options;
  if (second === undefined) return [{ type: ApplicationCommandOptionType.Subcommand as const, name: first, options }];
  const inner = { type: ApplicationCommandOptionType.Subcommand as const, name: second, options };
  return [{ type: ApplicationCommandOptionType.SubcommandGroup as const, name: first, options: [inner] }];
}

interface FoundCommand {
  application: LocalApplication;
  command: LocalCommand;
}

/** The command that the user sees under a name. Throws a plain Error when there is none, 50013 when they may not use it. */
function findCommand(
  world: World,
  user: LocalUser,
  channel: LocalChannel,
  type: ApplicationCommandType,
  name: string,
  only?: LocalApplication,
): FoundCommand {
  const offered = offeredCommands(world, channel).filter(({ command }) => command.type === type);
  const found = offered.find(({ application, command }) => command.name === name && (!only || application === only));
  if (!found) {
    const names = offered.map(({ command }) => command.name).join(', ');
    throw new Error(`No command "${name}" here; there are: ${names || 'none'}.`);
  }
  requireInChannel(channel, user, world.clock.now(), 'UseApplicationCommands');
  if (!mayUse(world, user, channel, found.command)) throw discordError('missingPermissions');
  return found;
}

/** The slash commands that Discord shows to the user in the channel. @throws 50001 */
export function offeredTo(world: World, user: LocalUser, channel: LocalChannel): FoundCommand[] {
  requireInChannel(channel, user, world.clock.now());
  return offeredCommands(world, channel).filter(
    ({ command }) => command.type === ApplicationCommandType.ChatInput && mayUse(world, user, channel, command),
  );
}

function mayUse(world: World, user: LocalUser, channel: LocalChannel, command: LocalCommand): boolean {
  const needed = channel.guild ? command.default_member_permissions : null;
  if (needed === null) return true;
  const held = channelPermissions(channel, user, world.clock.now());
  // "0" means administrators only: https://docs.discord.com/developers/interactions/application-commands#permissions
  const wanted = needed === '0' ? PermissionFlagsBits.Administrator : BigInt(needed);
  return (wanted & ~held) === 0n;
}

/** Commands of the bots in the guild, the guild's own before global ones; in a DM the bot's commands that allow it. */
function offeredCommands(world: World, channel: LocalChannel): FoundCommand[] {
  const { guild } = channel;
  const present = [...world.applications.values()].filter(({ id, user }) =>
    guild ? guild.members.has(id) : channel.recipients.includes(user),
  );
  return present.flatMap((application) => {
    const own = guild ? [...(application.guildCommands.get(guild.id)?.values() ?? [])] : [];
    const global = [...application.globalCommands.values()].filter((command) => {
      if (own.some((one) => one.name === command.name && one.type === command.type)) return false;
      return fitsContext(command, guild !== undefined);
    });
    return [...own, ...global].map((command) => ({ application, command }));
  });
}

function fitsContext(command: LocalCommand, inGuild: boolean): boolean {
  if (command.contexts)
    return command.contexts.includes(inGuild ? InteractionContextType.Guild : InteractionContextType.BotDM);
  return inGuild || command.dm_permission !== false;
}

/** The options of `command group sub`. Throws a plain Error when the path is wrong or incomplete. */
export function optionsAt(command: LocalCommand, words: readonly string[]): readonly APIApplicationCommandOption[] {
  let options = command.options ?? [];
  for (const word of words) {
    const next = options.filter(isContainer).find((option) => option.name === word);
    if (!next) throw new Error(`No subcommand "${word}"; there are: ${options.map((one) => one.name).join(', ')}.`);
    options = next.options ?? [];
  }
  if (options.some(isContainer))
    throw new Error(`A subcommand is missing: ${options.map((one) => one.name).join(', ')}.`);
  return options;
}

type Container = APIApplicationCommandSubcommandOption | APIApplicationCommandSubcommandGroupOption;

function isContainer(option: APIApplicationCommandOption): option is Container {
  return (
    option.type === ApplicationCommandOptionType.Subcommand ||
    option.type === ApplicationCommandOptionType.SubcommandGroup
  );
}
