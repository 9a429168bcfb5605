import {
  type APIMessageInteraction,
  type APIMessageInteractionMetadata,
  ApplicationIntegrationType,
  InteractionType,
} from 'discord-api-types/v10';
import type { LocalInteraction } from '../state/interaction.js';
import { userPayload } from './user.js';

/** Which installation of the application the interaction belongs to. */
export function integrationOwners(interaction: LocalInteraction) {
  return { [ApplicationIntegrationType.GuildInstall]: interaction.channel.guild?.id ?? '0' };
}

/** `interaction_metadata` of a message that answers an interaction. */
export function interactionMetadata(interaction: LocalInteraction): APIMessageInteractionMetadata {
  const base = {
    id: interaction.id,
    user: userPayload(interaction.user),
    authorizing_integration_owners: integrationOwners(interaction),
  };
  const { source } = interaction;
  switch (source.kind) {
    case 'component':
      return { ...base, type: InteractionType.MessageComponent, interacted_message_id: source.message.id };
    case 'modal': {
      const trigger = interactionMetadata(source.trigger);
      if (trigger.type === InteractionType.ModalSubmit) return trigger;
      return { ...base, type: InteractionType.ModalSubmit, triggering_interaction_metadata: trigger };
    }
    default:
      return { ...base, type: InteractionType.ApplicationCommand };
  }
}

/** The deprecated `interaction` field, which discord.js still reads; commands only. */
export function legacyInteraction(interaction: LocalInteraction): APIMessageInteraction | undefined {
  if (interaction.source.kind !== 'command') return undefined;
  return {
    id: interaction.id,
    type: InteractionType.ApplicationCommand,
    name: interaction.source.name,
    user: userPayload(interaction.user),
  };
}
