import type { ComponentHandle, ComponentInteraction, Logger } from '@cinnabar/sdk';
import type { ButtonInteraction, ModalSubmitInteraction } from 'discord.js';
import type { WaitingCard } from '../waiting/card.js';
import type { Decide, Decision } from './decide.js';
import { type OpenCardParts, openCard, whisper } from './open-card.js';
import type { PatternChooser } from './pattern-chooser.js';
import { reasonModal } from './reason.js';

export interface ButtonParts extends OpenCardParts {
  readonly decide: Decide;
  readonly log: Logger;
}
interface Parts extends ButtonParts {
  /** Answers the modal that asks for a reason. */
  readonly reasons: ComponentHandle;
  readonly patterns: PatternChooser;
}

/** The same rules as for reactions; but Discord wants every click answered, so the others are told why nothing happens. */
export function onButton(parts: Parts) {
  return async function click(interaction: ComponentInteraction, [choice]: readonly string[]): Promise<void> {
    if (!interaction.isButton()) return;
    if (choice === 'about') return whisper(interaction, aboutText(parts.board.on(interaction.message.id)));
    const open = await openCard(parts, interaction, interaction.message.id);
    if (open === undefined) return;
    const { card, request } = open;
    if (choice === 'reason') await interaction.showModal(reasonModal(parts.reasons.customId()));
    else if (choice === 'like') await parts.patterns.show(interaction, card, request);
    else if (choice === 'here') await decideBy(interaction, card, { approved: true, share: 'here' }, parts);
    else if (choice === 'task' && request.allowance.any) {
      await decideBy(interaction, card, { approved: true, pattern: { kind: 'any' } }, parts);
    } else await decideBy(interaction, card, { approved: choice === 'approve' }, parts);
  };
}

function aboutText(card: WaitingCard | undefined): string {
  const state =
    card === undefined
      ? 'It is not open any more.'
      : `<@${card.userId}> asked for it, and only they can decide: 👍 to let it run, 👎 to cancel.`;
  return `This is a confirmation of mine. ${state} What I send for members never has this button.`;
}

/** A decision counts even if its acknowledgement gets lost. */
export async function decideBy(
  interaction: ButtonInteraction | ModalSubmitInteraction,
  card: WaitingCard,
  decision: Decision,
  { decide, log }: Pick<ButtonParts, 'decide' | 'log'>,
): Promise<void> {
  await interaction.deferUpdate().catch((error: unknown) => {
    log.debug('a click could not be acknowledged', { callId: card.callId, error });
  });
  await decide(card, decision);
}
