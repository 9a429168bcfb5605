import type { LocalApplication, LocalChannel, LocalUser, OptionValue } from '@cinnabar/local-discord';
import type { CommandInfo } from '@cinnabar/sdk';
import {
  type APIApplicationCommand,
  type APIApplicationCommandOption,
  ApplicationCommandOptionType as T,
} from 'discord.js';
import { ConsoleError, VERBS } from './instruction.js';
import type { Session } from './session.js';
import { channelsOf, type Stage } from './stage.js';

/**
 * Completes the last word of a line with Tab, in the form of readline's completer: the candidates and the word that they complete.
 * @param commands those that the person at the console may use
 */
export function createCompleter(
  stage: Stage,
  session: Pick<Session, 'messageIds'>,
  commands: () => Promise<readonly CommandInfo[]>,
) {
  return async (line: string): Promise<[string[], string]> => {
    const word = /\S*$/.exec(line)?.[0] ?? '';
    const before = line.slice(0, line.length - word.length).replace(/^@[^\s:]+:\s+/, '');
    const isPrefixed = (before === '' ? word : before).startsWith('!');
    const all = isPrefixed
      ? prefixCandidates(stage, await commands(), before.slice(1), word)
      : candidates(stage, session, before, word);
    const found = all.filter((each) => each.toLowerCase().startsWith(word.toLowerCase()));
    return [[...new Set(found)], word];
  };
}

function candidates(
  stage: Stage,
  session: Pick<Session, 'messageIds'>,
  before: string,
  word: string,
): readonly string[] {
  if (word.startsWith('@'))
    return stage
      .people()
      .map(
        ({ username }) => `@${username}${before === '' && username !== stage.application.user.username ? ': ' : ' '}`,
      );
  if (word.startsWith('#')) return channelsOf(stage).map(({ name }) => `#${name} `);
  const [first = '', ...words] = before.trim().split(/\s+/);
  if ((before === '' ? word : first).startsWith('/')) {
    if (before === '') return commandsOf(stage).map(({ name }) => `/${name} `);
    return optionsAfter(stage, [first.slice(1), ...words.filter((each) => /^[a-z0-9_-]+$/.test(each))], word, before);
  }
  if (before === '') return VERBS.map((verb) => `${verb} `);
  if (/^(?:react|unreact|click|select|reply|edit|delete|thread|\+1|-1)$/.test(first) && words.length === 0) {
    return session.messageIds.map((id) => `${id} `);
  }
  if (first === 'go') return ['dm ', ...channelsOf(stage).map(({ name }) => `#${name} `), ...session.messageIds];
  return [];
}

/** For a prefix command: its words, then the names of its optional options, and the choices of an option. */
function prefixCandidates(
  stage: Stage,
  commands: readonly CommandInfo[],
  before: string,
  word: string,
): readonly string[] {
  const typed = before.trim().split(/\s+/).filter(Boolean);
  const offered = commands.filter(({ surface }) => surface !== 'slash');
  const paths = offered.flatMap(({ name, aliases }) => [name, ...aliases].map((path) => path.split(' ')));
  const leadsTo = (path: readonly string[]) =>
    typed.every((each, at) => each === path[at]) && path.length > typed.length;
  const sign = typed.length === 0 ? '!' : '';
  const next = paths.filter(leadsTo).map((path) => `${sign}${path[typed.length]} `);
  const command = offered.find(({ name }) => `${typed.join(' ')} `.startsWith(`${name} `));
  if (next.length > 0 || command === undefined) return next;
  const path = command.name.split(' ');
  const choicesOf = (name: string) => {
    const declared = declaredOptions(stage, path).find((option) => option.name === name);
    return declared !== undefined && 'choices' in declared ? (declared.choices ?? []).map((choice) => choice.name) : [];
  };
  const colon = word.indexOf(':');
  if (colon > 0) return choicesOf(word.slice(0, colon)).map((choice) => `${word.slice(0, colon + 1)}${choice} `);
  const given = typed.slice(path.length);
  const positional = command.options[given.filter((each) => !each.includes(':')).length];
  const named = command.options.filter(
    ({ name, required }) => !required && !given.some((each) => each.startsWith(`${name}:`)),
  );
  return [
    ...(positional === undefined ? [] : choicesOf(positional.name).map((choice) => `${choice} `)),
    ...named.map(({ name }) => `${name}:`),
  ];
}

function optionsAfter(stage: Stage, path: readonly string[], word: string, before: string): readonly string[] {
  const declared = declaredOptions(stage, path);
  const nested = subcommands(declared);
  if (nested.length > 0) return nested.map((name) => `${name} `);
  const colon = word.indexOf(':');
  if (colon < 0) return declared.flatMap(({ name }) => (before.includes(` ${name}:`) ? [] : [`${name}:`]));
  const option = declared.find(({ name }) => name === word.slice(0, colon));
  const choices = option !== undefined && 'choices' in option ? (option.choices ?? []) : [];
  return choices.map(({ name }) => `${word.slice(0, colon + 1)}${name} `);
}

function subcommands(options: readonly APIApplicationCommandOption[]): readonly string[] {
  return options.flatMap(({ name, type }) => (type === 1 || type === 2 ? [name] : []));
}

function commandsOf({ application, guild }: Stage): readonly Pick<APIApplicationCommand, 'name'>[] {
  return [...(application.guildCommands.get(guild.id)?.values() ?? []), ...application.globalCommands.values()];
}

interface Place {
  readonly application: LocalApplication;
  readonly channel: LocalChannel;
  readonly member: (name: string) => LocalUser;
}

/** Converts the typed text of a slash command's options to the type of each option, as the Discord client's form does. */
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

/** The options of a command, or of the subcommand that its words name. */
function declaredOptions(
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
