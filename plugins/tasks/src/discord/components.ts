import type { ComponentHandle } from '@cinnabar/sdk';
import {
  type APIActionRowComponent,
  type APIButtonComponentWithCustomId,
  ButtonStyle,
  ComponentType,
} from 'discord.js';
import { isFinal } from '../model/status.js';
import type { Task } from '../model/task.js';

export type Row = APIActionRowComponent<APIButtonComponentWithCustomId>;

/** The buttons of tasks. */
export interface TaskComponents {
  statusRows(task: Task): Row[];
  questionRows(taskId: string, choices: readonly string[]): Row[];
}

/** @param control what answers Stop, Pause, Resume, Details; @param reply what answers a question */
export function createComponents(control: ComponentHandle, reply: ComponentHandle): TaskComponents {
  const button = (label: string, style: APIButtonComponentWithCustomId['style'], custom_id: string) =>
    ({ type: ComponentType.Button, label, style, custom_id }) as const;
  const row = (components: APIButtonComponentWithCustomId[]): Row => ({ type: ComponentType.ActionRow, components });
  return {
    statusRows({ id, status, pausing }) {
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
    questionRows(taskId, choices) {
      const own = button('Answer…', ButtonStyle.Secondary, reply.customId('write', taskId));
      const given = choices.map((choice, index) =>
        button(choice, ButtonStyle.Primary, reply.customId('choose', taskId, String(index))),
      );
      return given.length === 0 ? [row([own])] : [row(given), row([own])];
    },
  };
}
