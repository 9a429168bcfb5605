import {
  type CommandContext,
  createAskFirst,
  type PersonaPlace,
  plainText,
  type Registrar,
  visible,
} from '@cinnabar/sdk';
import type { PersonaContext } from '../context.js';
import type { Author } from '../state/persona-store.js';
import { exportCommand, importCommand } from './cards.js';
import { createCommand, editCommand, registerForm } from './edit.js';
import { memoriesCommand } from './memories.js';
import { resetCommand } from './reset.js';
import { desiresCommand, goalsCommand, moodCommand, showCommand, undoCommand } from './state.js';
import { traceCommand } from './trace.js';

export function registerCommands(registrar: Pick<Registrar, 'group' | 'component'>, persona: PersonaContext): void {
  const form = registerForm(registrar, persona);
  const askFirst = createAskFirst({ component: registrar.component, ...persona, access: SHAPE });
  registrar.group({
    name: 'persona',
    description: 'The persona: who it is, how it feels, what it remembers',
    commands: [
      createCommand(persona),
      editCommand(persona, form),
      showCommand(persona),
      importCommand(persona),
      exportCommand(persona),
      moodCommand(persona),
      goalsCommand(persona),
      desiresCommand(persona),
      memoriesCommand(persona),
      traceCommand(persona),
      resetCommand(persona, askFirst),
      undoCommand(persona),
    ],
  });
}

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
