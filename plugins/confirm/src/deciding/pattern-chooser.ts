import type { ComponentHandle, ComponentInteraction } from '@cinnabar/sdk';
import type { ButtonInteraction } from 'discord.js';
import { permits } from '../session/allowance.js';
import { choicesOf, patternLike, usuallyFixed } from '../session/pattern.js';
import type { Request, WaitingCard } from '../waiting/card.js';
import type { ButtonParts } from './buttons.js';
import { openCard } from './open-card.js';
import { patternScreen, told, unmask } from './pattern-screen.js';

/** Lets a member say which arguments have to stay the same, and shows what that allows. */
export interface PatternChooser {
  show(interaction: ButtonInteraction, card: WaitingCard, request: Request): Promise<void>;
}
interface Handles {
  /** The menu of arguments, and the button below it. */
  readonly menu: ComponentHandle;
  readonly allow: ComponentHandle;
}

export function createPatternChooser(handles: Handles): PatternChooser {
  return {
    async show(interaction, card, { call, allowance }) {
      const fixed = allowance.loosen ? usuallyFixed(call.input) : new Set(choicesOf(call.input));
      const { messageId } = card;
      const shown = { menuId: handles.menu.customId(messageId), allow: handles.allow, messageId };
      await interaction.reply({ ...patternScreen(shown, { call, allowance }, fixed), flags: 'Ephemeral' });
    },
  };
}

/** Another choice of arguments: the screen shows what that would allow. */
export function onMenu(parts: ButtonParts, allow: ComponentHandle) {
  return async function choose(interaction: ComponentInteraction, [messageId = '']: readonly string[]): Promise<void> {
    if (!interaction.isStringSelectMenu()) return;
    const open = await openCard(parts, interaction, messageId);
    if (open === undefined) return;
    const shown = { menuId: interaction.customId, allow, messageId };
    await interaction.update(patternScreen(shown, open.request, new Set(interaction.values)));
  };
}

/** What the screen shows is allowed: the button itself carries the choice, so that an older screen allows what it shows. */
export function onAllow(parts: ButtonParts) {
  return async function allow(interaction: ComponentInteraction, [messageId = '', mask = '']: readonly string[]) {
    if (!interaction.isButton()) return;
    const open = await openCard(parts, interaction, messageId);
    if (open === undefined) return;
    const { card, request } = open;
    const { call, allowance } = request;
    const pattern = patternLike(call, unmask(choicesOf(call.input), mask));
    const words = told(call.tool.name, pattern);
    if (words === undefined || !permits(allowance, pattern)) return;
    await interaction
      .update({ content: `✅ For the rest of this task: ${words}.`, components: [] })
      .catch((error: unknown) => parts.log.debug('a click could not be acknowledged', { callId: card.callId, error }));
    await parts.decide(card, { approved: true, pattern });
  };
}
