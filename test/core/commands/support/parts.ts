import { type ArgumentToken, readArguments, readToken } from '@cinnabar/core/internal/commands/arguments';
import { describeOption, typeText, usageOf } from '@cinnabar/core/internal/commands/options';
import { buildCommand, buildGroup, describeOptions } from '@cinnabar/core/internal/commands/registry';
import { fitCommands } from '@cinnabar/core/internal/commands/slash-payload';
import type { CommandDefinition, GroupDefinition, OptionShape, z } from '@cinnabar/sdk';
import { ownerOf } from '../../../support/owners.js';

/** The words of a message, with where each stands. */
export function tokens(source: string): readonly ArgumentToken[] {
  const all: ArgumentToken[] = [];
  for (let token = readToken(source, 0); token !== undefined; token = readToken(source, token.end)) all.push(token);
  return all;
}

/** What a message gives for each option, or what is wrong with it. */
export function read(shape: OptionShape, source: string, files: readonly string[] = []) {
  const result = readArguments(describeOptions('test', shape), source, 0, files);
  return 'problem' in result ? result.problem : Object.fromEntries(result.given);
}

/** How the option `thing` is shown: `<thing> text`; `undefined` for what nobody can type. */
export function described(schema: z.ZodType): string | undefined {
  const spec = describeOption('thing', schema);
  return spec === undefined ? undefined : `${usageOf(spec)} ${typeText(spec)}`;
}

export function descriptionOf(name: string, schema: z.ZodType): string | undefined {
  return describeOption(name, schema)?.description;
}

/** What Discord is told of commands and groups of the plugin `dice`, in a guild or in direct messages. */
export function toldToDiscord(
  definitions: readonly (CommandDefinition | GroupDefinition)[],
  scope: 'guild' | 'dm' = 'guild',
) {
  const owner = ownerOf('dice');
  const built = definitions.map((one) => ('commands' in one ? buildGroup(owner, one) : buildCommand(owner, one)));
  return fitCommands(built, scope);
}
