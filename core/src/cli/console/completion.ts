import type { APIApplicationCommand, APIApplicationCommandOption } from 'discord.js';
import { VERBS } from './instruction.js';
import { channelsOf } from './names.js';
import { declaredOptions } from './option-values.js';
import type { Session } from './session.js';
import type { Stage } from './stage.js';

/** What Tab offers for the last word of a line: as readline's completer, the candidates and the word that they complete. */
export function createCompleter(stage: Stage, session: Pick<Session, 'messageIds'>) {
  return (line: string): [string[], string] => {
    const word = /\S*$/.exec(line)?.[0] ?? '';
    const before = line.slice(0, line.length - word.length).replace(/^@[^\s:]+:\s+/, '');
    const found = candidates(stage, session, before, word).filter((each) =>
      each.toLowerCase().startsWith(word.toLowerCase()),
    );
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
  const sign = /^[/!]/.exec(before === '' ? word : first)?.[0];
  if (sign !== undefined) {
    const commands = commandsOf(stage);
    if (before === '') return commands.map(({ name }) => `${sign}${name} `);
    const path = [first.slice(1), ...words.filter((each) => /^[a-z0-9_-]+$/.test(each))];
    return sign === '/'
      ? optionsAfter(stage, path, word, before)
      : subcommands(declaredOptions(stage, path)).map((name) => `${name} `);
  }
  if (before === '') return VERBS.map((verb) => `${verb} `);
  if (/^(?:react|unreact|click|select|reply|edit|delete|thread|\+1|-1)$/.test(first) && words.length === 0) {
    return session.messageIds.map((id) => `${id} `);
  }
  if (first === 'go') return ['dm ', ...channelsOf(stage).map(({ name }) => `#${name} `), ...session.messageIds];
  return [];
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
