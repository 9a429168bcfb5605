import type { Access, Logger, Suggestion } from '@cinnabar/sdk';
import type { AutocompleteInteraction } from 'discord.js';
import { visibleAmong } from '../directory/visible.js';
import type { OptionSpec } from '../options/spec.js';
import type { CommandEntry } from '../registry/entry.js';

/** https://discord.com/developers/docs/interactions/application-commands#application-command-object-application-command-option-choice-structure */
const MAX_SUGGESTIONS = 25;
const MAX_LENGTH = 100;

interface Parts {
  readonly access: Access;
  readonly log: Logger;
}

/** Answers what a member is typing: at most 25 suggestions, none to those who may not use the command, none when something goes wrong. */
export async function autocomplete(
  { access, log }: Parts,
  interaction: AutocompleteInteraction,
  entry: CommandEntry,
): Promise<void> {
  try {
    await interaction.respond(await suggestionsFor(access, interaction, entry));
  } catch (error) {
    log.warn('suggestions could not be made', { command: entry.name, plugin: entry.owner.id, error });
    if (!interaction.responded) await interaction.respond([]).catch(() => undefined);
  }
}

async function suggestionsFor(
  access: Access,
  interaction: AutocompleteInteraction,
  entry: CommandEntry,
): Promise<readonly Suggestion[]> {
  const { user, guildId, channelId } = interaction;
  const { visible } = await visibleAmong(access, { userId: user.id, guildId, channelId }, [entry]);
  const { name, value } = interaction.options.getFocused(true);
  const spec = entry.specs.find((one) => one.name === name);
  if (visible.length === 0 || spec === undefined) return [];
  const suggestions = (await spec.suggest?.(value, { guildId, userId: user.id })) ?? choicesLike(spec, value);
  return suggestions
    .filter((suggestion) => suggestion.value.length <= MAX_LENGTH)
    .slice(0, MAX_SUGGESTIONS)
    .map((suggestion) => ({ name: suggestion.name.slice(0, MAX_LENGTH), value: suggestion.value }));
}

/** Choices too many for Discord's own list: those that contain what was typed. */
function choicesLike({ choices }: OptionSpec, typed: string): readonly Suggestion[] {
  const folded = typed.toLowerCase();
  return choices
    .filter(({ label }) => label.toLowerCase().includes(folded))
    .map(({ label }) => ({ name: label, value: label }));
}
