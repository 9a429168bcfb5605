import {
  type APIApplicationCommandOption,
  type APIApplicationCommandSubcommandGroupOption,
  type APIApplicationCommandSubcommandOption,
  ApplicationCommandOptionType,
  type ApplicationCommandType,
  InteractionContextType,
} from 'discord-api-types/v10';
import { discordError } from '../errors.js';
import { channelPermissions, requireInChannel } from '../rules/permissions.js';
import type { LocalApplication } from '../state/application.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalCommand } from '../state/command.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';

export interface FoundCommand {
  application: LocalApplication;
  command: LocalCommand;
}

/** The command that the person sees under that name. Throws a plain Error when there is none, 50013 when they may not use it. */
export function findCommand(
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
  const needed = channel.guild ? found.command.default_member_permissions : null;
  if (needed !== null) {
    const missing = BigInt(needed) & ~channelPermissions(channel, user, world.clock.now());
    if (missing !== 0n || needed === '0') throw discordError('missingPermissions');
  }
  return found;
}

/** Commands of the bots in the guild, a guild's own before the global ones; in a DM the bot's that allow it. */
export function offeredCommands(world: World, channel: LocalChannel): FoundCommand[] {
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

/** The options of `command group sub`, walking down the words. Throws a plain Error when the path is wrong or incomplete. */
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
