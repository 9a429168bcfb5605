import {
  type Access,
  type CommandContext,
  createAskFirst,
  type PersonaPlace,
  plainText,
  type Registrar,
  visible,
} from '@cinnabar/sdk';
import type { RunParts } from '../context.js';
import type { Author } from '../state/persona-store.js';
import { exportCommand, importCommand } from './cards.js';
import { createCommand, editCommand, registerForm } from './edit.js';
import { memoriesCommand } from './memories.js';
import { resetCommand } from './reset.js';
import { desiresCommand, goalsCommand, moodCommand, showCommand, undoCommand } from './state.js';
import { traceCommand } from './trace.js';

export function registerCommands(registrar: Pick<Registrar, 'group' | 'component'>, parts: CommandParts): void {
  const form = registerForm(registrar, parts);
  const askFirst = createAskFirst({ component: registrar.component, ...parts, access: SHAPE });
  registrar.group({
    name: 'persona',
    description: 'The persona: who it is, how it feels, what it remembers',
    commands: [
      createCommand(parts),
      editCommand(parts, form),
      showCommand(parts),
      importCommand(parts),
      exportCommand(parts),
      moodCommand(parts),
      goalsCommand(parts),
      desiresCommand(parts),
      memoriesCommand(parts),
      traceCommand(parts),
      resetCommand(parts, askFirst),
      undoCommand(parts),
    ],
  });
}

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

/** Somebody's or a model's text on one line, none of it taken for markup. */
export function shown(text: string, most = 300): string {
  const cut = text.length <= most ? text : `${text.slice(0, most)}…`;
  return plainText(visible(cut));
}

/** `**Goals**` with a line for each, or nothing when there are none. */
export function listed(title: string, texts: readonly string[]): readonly string[] {
  return texts.length === 0 ? [] : [`**${title}**`, ...texts.map((text, index) => `${index + 1}. ${shown(text)}`)];
}
