import { type ArgumentToken, prefixEnd, readArguments, readToken } from '@cinnabar/core/internal/commands/arguments';
import { describeOption, typeText, usageOf } from '@cinnabar/core/internal/commands/options';
import { buildCommand, buildGroup, describeOptions } from '@cinnabar/core/internal/commands/registry';
import { commandDifferences, fitCommands, normalise } from '@cinnabar/core/internal/commands/slash-payload';
import type { CommandDefinition, GroupDefinition, OptionShape, z } from '@cinnabar/sdk';
import { ownerOf } from '../../plugins/support/harness.js';

/** Length of the prefix with which a message to this bot begins; 0 without a prefix. */
export function prefixLength(message: string, prefixes: readonly string[], botId: string): number {
  return prefixEnd(message, prefixes, botId);
}

/** The tokens of a message, with their positions. */
export function tokens(source: string): readonly ArgumentToken[] {
  const all: ArgumentToken[] = [];
  for (let token = readToken(source, 0); token !== undefined; token = readToken(source, token.end)) all.push(token);
  return all;
}

/** The parsed value of each option, or the error. */
export function read(shape: OptionShape, source: string, files: readonly string[] = []) {
  const result = readArguments(describeOptions('test', shape), source, 0, files);
  return 'problem' in result ? result.problem : Object.fromEntries(result.given);
}

/** The description of the option `thing`: `<thing> text`; `undefined` for a schema that cannot be typed. */
export function described(schema: z.ZodType): string | undefined {
  const spec = describeOption('thing', schema);
  return spec === undefined ? undefined : `${usageOf(spec)} ${typeText(spec)}`;
}

export function descriptionOf(name: string, schema: z.ZodType): string | undefined {
  return describeOption(name, schema)?.description;
}

/** The commands of the plugin `dice` in Discord's format, in a guild or in direct messages. */
export function toldToDiscord(
  definitions: readonly (CommandDefinition | GroupDefinition)[],
  scope: 'guild' | 'dm' = 'guild',
) {
  const owner = ownerOf('dice');
  const built = definitions.map((one) => ('commands' in one ? buildGroup(owner, one) : buildCommand(owner, one)));
  return fitCommands(built, scope);
}

/** Differences between Discord's list of commands and ours: `+ping`, `~roll.description`. */
export function differences(
  theirs: readonly unknown[],
  ours: readonly unknown[],
  scope: 'guild' | 'dm' = 'guild',
): readonly string[] {
  const inOrder = (commands: readonly unknown[]) => commands.map((one) => normalise(one, scope));
  return [...commandDifferences(inOrder(theirs), inOrder(ours))];
}
