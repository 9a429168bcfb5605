import type { AnySelectMenuInteraction, ButtonInteraction, ModalSubmitInteraction } from 'discord.js';
import type { AccessPolicy } from './access.js';

export type ComponentInteraction = ButtonInteraction | AnySelectMenuInteraction | ModalSubmitInteraction;

/** A button, select menu or modal that the plugin answers. */
export interface ComponentDefinition {
  /** Unique in the plugin: letters, digits, `-` and `_`. */
  readonly name: string;
  readonly access?: AccessPolicy;
  /** `args` are what `customId(...args)` was given. They come back from Discord: treat them as a claim, not as a fact. */
  run(interaction: ComponentInteraction, args: readonly string[]): unknown;
}

/** A registered component. */
export interface ComponentHandle {
  /** The `custom_id` to put on the component; at most 100 characters in all. */
  customId(...args: readonly string[]): string;
}
