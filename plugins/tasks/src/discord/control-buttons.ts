import type { Access, ComponentDefinition, ComponentInteraction, Provenance, Tasks } from '@cinnabar/sdk';
import { shownToPeople } from '../context/shown.js';
import type { Journal } from '../journal/journal.js';
import { assertMay } from '../running/rights.js';
import { rulesIn, type TaskSettings } from '../settings.js';
import { detailsOf } from './details.js';
import { actorIn } from './interaction-actor.js';

export interface ControlButtonParts {
  readonly tasks: Tasks;
  readonly journal: Journal;
  readonly settings: TaskSettings;
  readonly access: Access;
  readonly provenance: Pick<Provenance, 'mayShow'>;
}

/** Stop, Pause, Resume and Details below a status message. The answer comes once it is written; the message follows by itself. */
export function controlButtons(parts: ControlButtonParts): ComponentDefinition['run'] {
  const { tasks } = parts;
  return async (interaction, [action = '', id = '']) => {
    const by = actorIn(interaction);
    if (action === 'details') return details(parts, interaction, id);
    if (action === 'stop') {
      await tasks.stop(id, by);
      return whisper(interaction, 'Stopped. What was done follows.');
    }
    if (action === 'resume') {
      await tasks.resume(id, by);
      return whisper(interaction, 'It goes on.');
    }
    const { status } = await tasks.pause(id, by);
    return whisper(interaction, status === 'tool_executing' ? 'It pauses when the tool has ended.' : 'It pauses.');
  };
}

/** What tools returned was for who asked. */
async function details(
  { journal, settings, access, provenance }: ControlButtonParts,
  interaction: ComponentInteraction,
  id: string,
) {
  const task = await journal.find(id);
  if (task === undefined) return whisper(interaction, 'Nothing is kept of this task any more.');
  const { controlTier } = await rulesIn(settings, task.actor.guildId);
  await assertMay(access, task, actorIn(interaction), controlTier, 'see its details');
  const by = actorIn(interaction);
  const shown = await shownToPeople(task, (sources) => provenance.mayShow(sources, [by]));
  await interaction.reply({ ...detailsOf(shown), flags: 'Ephemeral', allowedMentions: { parse: [] } });
}

async function whisper(interaction: ComponentInteraction, content: string): Promise<void> {
  await interaction.reply({ content, flags: 'Ephemeral', allowedMentions: { parse: [] } });
}
