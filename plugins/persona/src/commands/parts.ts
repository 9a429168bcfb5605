import type { Access, CommandContext, PersonaPlace } from '@cinnabar/sdk';
import { CinnabarError } from '@cinnabar/sdk';
import type { RunParts } from '../running/parts.js';
import type { Author } from '../state/store.js';

export interface CommandParts extends RunParts {
  readonly access: Access;
}

/** Who shapes personas: in a guild its admins, in a direct message the member whose it is. */
export const SHAPE = { tier: 'admin', dmTier: 'everyone' } as const;

export function placeOf({ actor }: Pick<CommandContext, 'actor'>): PersonaPlace {
  return { guildId: actor.guildId, channelId: actor.channelId };
}

/** What one command changes is undone together. */
export function authorOf({ actor }: Pick<CommandContext, 'actor'>, { random }: Pick<CommandParts, 'random'>): Author {
  return { sessionId: random.id(), userId: actor.userId, channelId: null };
}

/** For commands that everybody may use to look, and fewer to change. @throws CINNABAR_ACCESS_DENIED with the reasons */
export async function assertMayShape({ actor, name }: CommandContext, { access }: CommandParts): Promise<void> {
  const decision = await access.decide(actor, { kind: 'command', name, plugin: 'persona', policy: SHAPE });
  if (decision.allowed) return;
  const reasons = decision.reasons.filter(({ allowed }) => !allowed).map(({ text }) => text);
  throw new CinnabarError('CINNABAR_ACCESS_DENIED', { reasons: reasons.join('; ') });
}
