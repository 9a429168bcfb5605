import { createAskFirst, type Registrar } from '@cinnabar/sdk';
import type { PersonaContext } from '../context.js';
import { exportCommand, importCommand } from './cards.js';
import { SHAPE } from './command-context.js';
import { createCommand, editCommand, registerForm, resetCommand } from './edit.js';
import { memoriesCommand } from './memories.js';
import { desiresCommand, goalsCommand, moodCommand, showCommand, traceCommand, undoCommand } from './state.js';

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
