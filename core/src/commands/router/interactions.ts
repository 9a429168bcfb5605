import type { Interaction } from 'discord.js';
import { notice } from '../answers/notice.js';
import type { CommandRoomParts } from '../parts.js';
import type { Registry } from '../registry/registry.js';
import { autocomplete } from './autocomplete.js';
import type { Execution } from './execute.js';
import { runInteraction } from './interaction.js';
import { commandOf } from './slash-options.js';

export const NOT_AVAILABLE = 'That command is not available here at the moment.';

type Parts = Pick<CommandRoomParts, 'enabledIn' | 'boundary' | 'access' | 'clock' | 'log'>;

/** Builds the router of slash commands and of what is suggested while one is typed. `true` when the interaction was one of these. */
export function createInteractionRouter(parts: Parts, registry: Registry, execution: Execution) {
  const { enabledIn, boundary, clock, log } = parts;

  return (interaction: Interaction): boolean => {
    const typing = interaction.isAutocomplete();
    if (!typing && !interaction.isChatInputCommand()) return false;
    const { guildId } = interaction;
    const entry = commandOf(interaction, registry.find);
    if (entry === undefined || !enabledIn(guildId, entry.owner.plugin)) {
      // Discord's list is behind ours for a moment, or a member's client is.
      const answer = typing ? interaction.respond([]) : notice(interaction, NOT_AVAILABLE);
      answer.catch((error: unknown) =>
        log.warn('an unknown slash command could not be answered', { command: interaction.commandName, error }),
      );
      return true;
    }
    void boundary.run(entry.owner, guildId, `command ${entry.name}`, () =>
      typing ? autocomplete(parts, interaction, entry) : runInteraction({ execution, clock, log }, interaction, entry),
    );
    return true;
  };
}
