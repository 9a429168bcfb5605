import {
  type Actor,
  type ComponentDefinition,
  type ComponentHandle,
  type ComponentInteraction,
  type Tasks,
  t,
} from '@cinnabar/sdk';
import {
  type APIActionRowComponent,
  type APIButtonComponentWithCustomId,
  ButtonStyle,
  ComponentType,
} from 'discord.js';
import type { TaskContext } from '../context.js';
import { assertMay } from '../permissions.js';
import { redactForPeople } from '../prompt/redaction.js';
import { isFinal, type Task } from '../task.js';
import { detailsOf } from './wording.js';

type Row = APIActionRowComponent<APIButtonComponentWithCustomId>;

/** @param control handles Stop, Pause, Resume, Details; @param reply handles the buttons of a question */
export function createComponents(control: ComponentHandle, reply: ComponentHandle) {
  const button = (label: string, style: APIButtonComponentWithCustomId['style'], custom_id: string) =>
    ({ type: ComponentType.Button, label, style, custom_id }) as const;
  const row = (components: APIButtonComponentWithCustomId[]): Row => ({ type: ComponentType.ActionRow, components });
  return {
    statusRows({ id, status, pausing }: Task): Row[] {
      const details = button(t('Details'), ButtonStyle.Secondary, control.customId('details', id));
      if (isFinal(status)) return [row([details])];
      const held = status === 'paused' || pausing;
      return [
        row([
          button(t('Stop'), ButtonStyle.Danger, control.customId('stop', id)),
          held
            ? button(t('Resume'), ButtonStyle.Primary, control.customId('resume', id))
            : button(t('Pause'), ButtonStyle.Secondary, control.customId('pause', id)),
          details,
        ]),
      ];
    },
    questionRows(taskId: string, choices: readonly string[]): Row[] {
      const own = button(t('Answer…'), ButtonStyle.Secondary, reply.customId('write', taskId));
      const given = choices.map((choice, index) =>
        button(choice, ButtonStyle.Primary, reply.customId('choose', taskId, String(index))),
      );
      return given.length === 0 ? [row([own])] : [row(given), row([own])];
    },
  };
}

export type TaskComponents = ReturnType<typeof createComponents>;

/** Stop, Pause, Resume and Details below a status message. The answer comes once it is written; the message follows by itself. */
export function controlButtons(context: TaskContext, tasks: Tasks): ComponentDefinition['run'] {
  return async (interaction, [action = '', id = '']) => {
    const by = actorIn(interaction);
    if (action === 'details') return details(context, interaction, id);
    if (action === 'stop') {
      await tasks.stop(id, by);
      return whisper(interaction, t('Stopped. What was done follows.'));
    }
    if (action === 'resume') {
      await tasks.resume(id, by);
      return whisper(interaction, t('It goes on.'));
    }
    const { status } = await tasks.pause(id, by);
    return whisper(
      interaction,
      status === 'tool_executing' ? t('It pauses when the tool has ended.') : t('It pauses.'),
    );
  };
}

/** What tools returned, without what may not be shown to the person who clicked. */
async function details(context: TaskContext, interaction: ComponentInteraction, id: string) {
  const task = await context.journal.find(id);
  if (task === undefined) return whisper(interaction, t('Nothing is kept of this task any more.'));
  const by = actorIn(interaction);
  await assertMay(context, task, by, 'controlTier', 'see its details');
  const shown = await redactForPeople(task, (sources) => context.provenance.mayShow(sources, [by]));
  await interaction.reply({ ...detailsOf(shown), flags: 'Ephemeral', allowedMentions: { parse: [] } });
}

async function whisper(interaction: ComponentInteraction, content: string): Promise<void> {
  await interaction.reply({ content, flags: 'Ephemeral', allowedMentions: { parse: [] } });
}

/** The person who clicked, and where. */
export function actorIn({ user, guildId, channelId }: ComponentInteraction): Actor {
  return { userId: user.id, guildId, channelId: channelId ?? '' };
}
