import type { CommandInfo } from '@cinnabar/sdk';
import type { APIApplicationCommand, APIApplicationCommandOption } from 'discord.js';
import { VERBS } from './instruction.js';
import { channelsOf } from './names.js';
import { declaredOptions } from './option-values.js';
import type { Session } from './session.js';
import type { Stage } from './stage.js';

/**
 * What Tab offers for the last word of a line: as readline's completer, the candidates and the word that they complete.
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

/** Of a prefix command: its words, then the names of its optional options, and the choices of an option. */
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
