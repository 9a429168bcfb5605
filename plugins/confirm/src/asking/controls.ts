import type { ComponentHandle } from '@cinnabar/sdk';
import type { APIActionRowComponent, APIButtonComponentWithCustomId, PermissionsString } from 'discord.js';
import { permissionName } from '../discord/place.js';
import type { Rules } from '../settings.js';

export const APPROVE = '👍';
export const REFUSE = '👎';

/** What a card is decided with, and lines that explain why. */
export interface Controls {
  readonly reactions: boolean;
  readonly buttons: boolean;
  readonly notes: readonly string[];
}

/** What is needed to add reactions to a message. */
export const REACTION_PERMISSIONS: readonly PermissionsString[] = ['AddReactions', 'ReadMessageHistory'];

/** Reactions where they are wanted and possible; else buttons, saying which permission is missing. */
export function controlsFor(wanted: Rules['controls'], missing: readonly PermissionsString[]): Controls {
  if (wanted === 'buttons') return { reactions: false, buttons: true, notes: [] };
  if (missing.length === 0) return { reactions: true, buttons: wanted === 'both', notes: [] };
  const names = missing.map(permissionName).join(' and ');
  const note = `⚠️ I cannot add reactions here: I am missing the permission ${names}. Please use the buttons.`;
  return { reactions: false, buttons: true, notes: [note] };
}

/** For when Discord refuses a reaction that should have been possible. */
export const REACTIONS_REFUSED: Controls = {
  reactions: false,
  buttons: true,
  notes: ['⚠️ Discord does not let me add reactions here. Please use the buttons.'],
};

/** The row of buttons: 2 is a button, 3 a green and 4 a red one. */
export function buttonRow({ customId }: ComponentHandle): APIActionRowComponent<APIButtonComponentWithCustomId> {
  return {
    type: 1,
    components: [
      { type: 2, style: 3, label: 'Confirm', emoji: { name: APPROVE }, custom_id: customId('approve') },
      { type: 2, style: 4, label: 'Cancel', emoji: { name: REFUSE }, custom_id: customId('refuse') },
    ],
  };
}
