import { createAskFirst, type Registrar } from '@cinnabar/sdk';
import { createCommand } from './create.js';
import { editCommand } from './edit.js';
import { exportCommand } from './export.js';
import { registerForm } from './form.js';
import { importCommand } from './import.js';
import { memoriesCommand } from './memories.js';
import { moodCommand } from './mood.js';
import { type CommandParts, SHAPE } from './parts.js';
import { resetCommand } from './reset.js';
import { showCommand } from './show.js';
import { traceCommand } from './trace.js';
import { undoCommand } from './undo.js';
import { desiresCommand, goalsCommand } from './wishes.js';

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
