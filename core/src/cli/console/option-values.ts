import type { LocalApplication, LocalChannel, LocalUser, OptionValue } from '@cinnabar/local-discord';
import { type APIApplicationCommandOption, ApplicationCommandOptionType as T } from 'discord.js';
import { ConsoleError } from './instruction.js';

interface Place {
  readonly application: LocalApplication;
  readonly channel: LocalChannel;
  readonly member: (name: string) => LocalUser;
}

/** Turns the typed text of a slash command's options into what each option takes, as the Discord client's form does. */
export function optionValues(
  place: Place,
  command: string,
  typed: Readonly<Record<string, string>>,
): Record<string, OptionValue> {
  const declared = declaredOptions(place, command.split(' '));
  return Object.fromEntries(
    Object.entries(typed).map(([name, text]) => {
      const type = declared.find((option) => option.name === name)?.type;
      return [name, type === undefined ? text : toValue(place, name, type, text)];
    }),
  );
}

/** The options of a command, or of what its words lead to: subcommands, too. */
export function declaredOptions(
  { application, channel }: Pick<Place, 'application' | 'channel'>,
  words: readonly string[],
): readonly APIApplicationCommandOption[] {
  const own = channel.guild && application.guildCommands.get(channel.guild.id);
  const all = [...(own?.values() ?? []), ...application.globalCommands.values()];
  let options = all.find(({ name }) => name === words[0])?.options ?? [];
  for (const word of words.slice(1)) {
    const next = options.find(({ name }) => name === word);
    options = next !== undefined && 'options' in next ? (next.options ?? []) : [];
  }
  return options;
}

function toValue({ channel, member }: Place, name: string, type: T, text: string): OptionValue {
  switch (type) {
    case T.Integer:
    case T.Number: {
      const value = Number(text);
      if (text.trim() === '' || Number.isNaN(value))
        throw new ConsoleError(`${name} must be a number; this is not: ${text}`);
      return value;
    }
    case T.Boolean:
      if (!/^(true|false|yes|no|on|off)$/i.test(text)) throw new ConsoleError(`${name} must be true or false.`);
      return /^(true|yes|on)$/i.test(text);
    case T.User:
    case T.Mentionable:
      return member(text.replace(/^@/, ''));
    case T.Channel:
      return named([...(channel.guild?.channels.values() ?? [])], text.replace(/^#/, ''), 'channel');
    case T.Role:
      return named([...(channel.guild?.roles.values() ?? [])], text.replace(/^@/, ''), 'role');
    default:
      return text;
  }
}

function named<Thing extends { readonly name: string }>(things: readonly Thing[], name: string, what: string): Thing {
  const found = things.find((thing) => thing.name === name);
  if (found === undefined) throw new ConsoleError(`There is no ${what} "${name}" here.`);
  return found;
}
