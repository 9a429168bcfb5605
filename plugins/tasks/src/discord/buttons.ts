import type {
  Access,
  Actor,
  ComponentDefinition,
  ComponentHandle,
  ComponentInteraction,
  Provenance,
  Tasks,
} from '@cinnabar/sdk';
import {
  type APIActionRowComponent,
  type APIButtonComponentWithCustomId,
  ButtonStyle,
  ComponentType,
} from 'discord.js';
import { redactForPeople } from '../context/redaction.js';
import type { Journal } from '../journal/journal.js';
import { assertMay } from '../running/permissions.js';
import type { TaskSettings } from '../settings.js';
import { isFinal, type Task } from '../task.js';
import { detailsOf } from './details.js';

type Row = APIActionRowComponent<APIButtonComponentWithCustomId>;

/** @param control what answers Stop, Pause, Resume, Details; @param reply what answers a question */
export function createComponents(control: ComponentHandle, reply: ComponentHandle) {
  const button = (label: string, style: APIButtonComponentWithCustomId['style'], custom_id: string) =>
    ({ type: ComponentType.Button, label, style, custom_id }) as const;
  const row = (components: APIButtonComponentWithCustomId[]): Row => ({ type: ComponentType.ActionRow, components });
  return {
    statusRows({ id, status, pausing }: Task): Row[] {
      const details = button('Details', ButtonStyle.Secondary, control.customId('details', id));
      if (isFinal(status)) return [row([details])];
      const held = status === 'paused' || pausing;
      return [
        row([
          button('Stop', ButtonStyle.Danger, control.customId('stop', id)),
          held
            ? button('Resume', ButtonStyle.Primary, control.customId('resume', id))
            : button('Pause', ButtonStyle.Secondary, control.customId('pause', id)),
          details,
        ]),
      ];
    },
    questionRows(taskId: string, choices: readonly string[]): Row[] {
      const own = button('Answer…', ButtonStyle.Secondary, reply.customId('write', taskId));
      const given = choices.map((choice, index) =>
        button(choice, ButtonStyle.Primary, reply.customId('choose', taskId, String(index))),
      );
      return given.length === 0 ? [row([own])] : [row(given), row([own])];
    },
  };
}

export type TaskComponents = ReturnType<typeof createComponents>;

interface ControlButtonParts {
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
  const { controlTier } = await settings.guild(task.actor.guildId).get();
  await assertMay(access, task, actorIn(interaction), controlTier, 'see its details');
  const by = actorIn(interaction);
  const shown = await redactForPeople(task, (sources) => provenance.mayShow(sources, [by]));
  await interaction.reply({ ...detailsOf(shown), flags: 'Ephemeral', allowedMentions: { parse: [] } });
}

async function whisper(interaction: ComponentInteraction, content: string): Promise<void> {
  await interaction.reply({ content, flags: 'Ephemeral', allowedMentions: { parse: [] } });
}

/** Who clicked, and where. */
export function actorIn({ user, guildId, channelId }: ComponentInteraction): Actor {
  return { userId: user.id, guildId, channelId: channelId ?? '' };
}
