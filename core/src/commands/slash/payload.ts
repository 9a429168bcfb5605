import type { AccessPolicy } from '@cinnabar/sdk';
import {
  type APIApplicationCommandBasicOption,
  type APIApplicationCommandSubcommandGroupOption,
  type APIApplicationCommandSubcommandOption,
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ApplicationIntegrationType,
  InteractionContextType,
  PermissionsBitField,
  type RESTPostAPIChatInputApplicationCommandsJSONBody,
} from 'discord.js';
import type { CommandEntry, Entry, GroupEntry } from '../registry/entry.js';
import { optionPayload } from './option-payload.js';
import { belongs, type SlashScope } from './scope.js';

export type CommandPayload = RESTPostAPIChatInputApplicationCommandsJSONBody;

/** A command as Discord is told of it; `keep` says which commands of a group are among it. */
export function commandPayload(
  entry: Entry,
  scope: SlashScope,
  keep: (command: CommandEntry) => boolean,
): CommandPayload {
  const kept = (command: CommandEntry) => belongs(command, scope) && keep(command);
  return {
    type: ApplicationCommandType.ChatInput,
    name: entry.key,
    description: entry.description,
    options: entry.kind === 'command' ? basicOptions(entry) : nested(entry, kept),
    ...(scope === 'guild' ? guildFields(entry.policy) : DM_FIELDS),
  };
}

const DM_FIELDS = {
  contexts: [InteractionContextType.BotDM],
  integration_types: [ApplicationIntegrationType.GuildInstall],
};

/** Whom Discord shows the command at first (admins of the guild can change that); what counts is decided when it is used. */
function guildFields({ tier, member }: AccessPolicy) {
  if (tier === 'guildOwner' || tier === 'botOwner') return { default_member_permissions: '0' };
  return {
    default_member_permissions: member === undefined ? null : PermissionsBitField.resolve([...member]).toString(),
  };
}

function basicOptions(command: CommandEntry): APIApplicationCommandBasicOption[] {
  return command.specs.map(optionPayload);
}

type Nested = APIApplicationCommandSubcommandGroupOption | APIApplicationCommandSubcommandOption;

function nested(group: GroupEntry, kept: (command: CommandEntry) => boolean): Nested[] {
  return group.children.flatMap((child): Nested[] => {
    if (child.kind === 'command') return kept(child) ? [subcommand(child)] : [];
    const options = child.children.flatMap((one) => (one.kind === 'command' && kept(one) ? [subcommand(one)] : []));
    const { key: name, description } = child;
    return options.length === 0
      ? []
      : [{ type: ApplicationCommandOptionType.SubcommandGroup, name, description, options }];
  });
}

function subcommand(command: CommandEntry): APIApplicationCommandSubcommandOption {
  return {
    type: ApplicationCommandOptionType.Subcommand,
    name: command.key,
    description: command.description,
    options: basicOptions(command),
  };
}
