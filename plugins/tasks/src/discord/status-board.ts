import {
  type Actor,
  type ComponentDefinition,
  type ComponentHandle,
  type ComponentInteraction,
  findSendable,
  isUnreachable,
  keepTyping,
  type Tasks,
  t,
} from '@cinnabar/sdk';
import {
  type APIActionRowComponent,
  type APIButtonComponentWithCustomId,
  ButtonStyle,
  ComponentType,
} from 'discord.js';
import type { BaseContext, TaskContext } from '../context.js';
import { assertMay } from '../permissions.js';
import { redactForPeople } from '../prompt/redaction.js';
import { isFinal, type Task } from '../task.js';
import { detailsOf, statusText } from './wording.js';

/** Minimum time between two edits of a message, so that a busy task does not exhaust Discord's rate limit. */
const LEAST_BETWEEN_MS = 1_000;
/** Time added for each task: Discord's limits apply to all requests of the bot, of which answers to members are more important. */
const SHARE_MS = 100;

interface Shown {
  latest: Task;
  /** The last shown text, so that an edit without a change is skipped. */
  content: string;
  editedAt: number;
  cancel: (() => void) | undefined;
  edit: Promise<void> | undefined;
  waiting: ((shown: boolean) => void)[];
}

/** Shows the state of tasks: their status messages and the typing indicator. */
export function createStatusBoard({ client, clock, languages, log, components, slots }: BaseContext) {
  const shown = new Map<string, Shown>();
  let closed = false;

  const edit = async (one: Shown) => {
    const { id, actor, statusId } = one.latest;
    const rows = components.statusRows(one.latest);
    const content = statusText(one.latest, slots.placeOf(id));
    const look = content + JSON.stringify(rows);
    if (statusId === undefined || look === one.content) return;
    one.editedAt = clock.now();
    // discord.js has retried several times. This change is skipped; the next one is shown.
    one.content = look;
    try {
      const channel = await findSendable(client, actor.channelId);
      await channel?.messages.edit(statusId, { content, components: rows, allowedMentions: { parse: [] } });
    } catch (error) {
      if (!isUnreachable(error)) log.warn('the status of a task could not be shown', { taskId: id, error });
    }
  };
  const flush = (one: Shown): void => {
    one.cancel = undefined;
    const told = one.waiting.splice(0);
    // Rendered and compared in the language of the task's member, also if another member caused the change.
    one.edit = languages.speak(one.latest.actor, async () => {
      await edit(one);
      one.edit = undefined;
      for (const tell of told) tell(true);
      // The task has changed during the edit.
      if (one.waiting.length > 0 || one.content !== lookOf(one)) schedule(one);
    });
  };
  const lookOf = (one: Shown) =>
    statusText(one.latest, slots.placeOf(one.latest.id)) + JSON.stringify(components.statusRows(one.latest));
  const schedule = (one: Shown) => {
    if (closed || one.cancel !== undefined || one.edit !== undefined) return;
    const leastMs = one.waiting.length > 0 ? LEAST_BETWEEN_MS : Math.max(LEAST_BETWEEN_MS, shown.size * SHARE_MS);
    const waitMs = Math.max(0, one.editedAt + leastMs - clock.now());
    if (waitMs === 0) flush(one);
    else one.cancel = clock.after(waitMs, () => flush(one));
  };
  const take = (task: Task): Shown => {
    const one = shown.get(task.id) ?? {
      latest: task,
      content: '',
      editedAt: Number.NEGATIVE_INFINITY,
      cancel: undefined,
      edit: undefined,
      waiting: [],
    };
    one.latest = task;
    shown.set(task.id, one);
    return one;
  };

  return {
    /** Shows the task's state as soon as the rate limit allows. */
    show(task: Task): void {
      if (task.statusId !== undefined && task.ending?.told !== true) schedule(take(task));
    },
    /** Shows the final state, and removes the task from the board. Resolves when it is shown; with `false` when the board was closed before. */
    async finish(task: Task): Promise<boolean> {
      if (closed || task.statusId === undefined) return !closed;
      const one = take(task);
      const done = new Promise<boolean>((resolve) => one.waiting.push(resolve));
      // The final state replaces a pending update.
      one.cancel?.();
      one.cancel = undefined;
      schedule(one);
      const isShown = await done;
      shown.delete(task.id);
      return isShown;
    },
    /** Shows the typing indicator where the task works, until the returned function is called. */
    showTyping: ({ workId, actor }: Task) =>
      keepTyping(() => findSendable(client, workId ?? actor.channelId), { clock, log }),
    /** Stops all updates. Resolves when no edit is running. */
    async close(): Promise<void> {
      closed = true;
      for (const { cancel, waiting } of shown.values()) {
        cancel?.();
        for (const tell of waiting.splice(0)) tell(false);
      }
      await Promise.all([...shown.values()].map((one) => one.edit));
    },
  };
}

export type StatusBoard = ReturnType<typeof createStatusBoard>;

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

/**
 * The buttons Stop, Pause, Resume and Details below a status message. Each is answered when the change is written; the status message is updated separately.
 */
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

/** The tool results of a task that may be shown to the member who clicked. */
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

/** The member who clicked, and where. */
export function actorIn({ user, guildId, channelId }: ComponentInteraction): Actor {
  return { userId: user.id, guildId, channelId: channelId ?? '' };
}
