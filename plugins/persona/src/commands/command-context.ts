import { type CommandContext, type PersonaPlace, plainText, visible } from '@cinnabar/sdk';
import type { PersonaContext } from '../context.js';
import type { Author } from '../state/persona-store.js';

/** Who shapes personas: in a guild its admins, in a direct message the member whose it is. */
export const SHAPE = { tier: 'admin', dmTier: 'everyone' } as const;

export function placeOf({ actor }: Pick<CommandContext, 'actor'>): PersonaPlace {
  return { guildId: actor.guildId, channelId: actor.channelId };
}

/** What one command changes is undone together. */
export function authorOf({ actor }: Pick<CommandContext, 'actor'>, { random }: PersonaContext): Author {
  return { sessionId: random.id(), userId: actor.userId, channelId: null };
}

/** A member's or a model's text on one line, escaped. */
export function shown(text: string, most = 300): string {
  const cut = text.length <= most ? text : `${text.slice(0, most)}…`;
  return plainText(visible(cut));
}

/** `**Goals**` with a line for each, or nothing when there are none. */
export function listed(title: string, texts: readonly string[]): readonly string[] {
  return texts.length === 0 ? [] : [`**${title}**`, ...texts.map((text, index) => `${index + 1}. ${shown(text)}`)];
}
