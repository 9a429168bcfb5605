import { type Clock, type Logger, sendOnce, UserError } from '@cinnabar/sdk';
import type { AnyThreadChannel, Client, SendableChannels } from 'discord.js';
import type { Journal } from '../journal/journal.js';
import { Interrupted } from '../running/run-control.js';
import type { TaskSettings } from '../settings.js';
import { labelOf, type Task } from '../task.js';
import type { TaskComponents } from './buttons.js';
import { mayOpenThread, writableChannel } from './channels.js';
import { statusText } from './wording.js';

export interface PlaceParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly journal: Journal;
  readonly settings: TaskSettings;
  readonly components: TaskComponents;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
}

const LOOKED_THROUGH = 50;
const THREAD_NAME = 90;

/**
 * Gives a task its status message and the thread below it; the channel itself where there can be no thread. What was done of this before a
 * crash is recognised by the task's name in it. @throws UserError when the bot may not write there
 */
export function createPlaces(parts: PlaceParts) {
  const { client, clock, log, journal, settings, components, signal } = parts;

  const statusMessage = async (task: Task, channel: SendableChannels, recognise: boolean): Promise<string> => {
    const known = recognise ? await findStatus(client, task, channel) : undefined;
    if (known !== undefined) return known;
    const reference = task.messageId;
    const reply =
      reference === undefined ? {} : { reply: { messageReference: reference, failIfNotExists: false } as const };
    const message = {
      content: statusText(task, undefined),
      components: components.statusRows(task),
      allowedMentions: { parse: [], repliedUser: false },
      ...reply,
    };
    try {
      return (await sendOnce(channel, message, `${task.id}\nstatus`, { clock, signal })).id;
    } catch (error) {
      if (signal.aborted) throw new Interrupted();
      throw error;
    }
  };

  /** Members of a thread see it in their list, and are notified of what is said in it. */
  const join = async (own: AnyThreadChannel, task: Task): Promise<void> => {
    try {
      await own.members.add(task.actor.userId);
    } catch (error) {
      log.info('a member could not be added to the thread of their task', { taskId: task.id, error });
    }
  };

  const thread = async (task: Task, channel: SendableChannels, statusId: string): Promise<string> => {
    const { threads } = await settings.guild(task.actor.guildId).get();
    if (!threads || !mayOpenThread(client, channel)) return channel.id;
    try {
      const message = await channel.messages.fetch(statusId);
      const name = `${task.prompt.replaceAll(/\s+/g, ' ').trim().slice(0, THREAD_NAME)} · ${labelOf(task)}`;
      const own = message.thread ?? (await message.startThread({ name }));
      await join(own, task);
      return own.id;
    } catch (error) {
      log.info('a task works in the channel: it could not have a thread', { taskId: task.id, error });
      return channel.id;
    }
  };

  return async function settle(task: Task, recognise: boolean): Promise<Task> {
    if (task.workId !== undefined) return task;
    const channel = await writableChannel(client, task.actor.channelId);
    const { statusId = await statusMessage(task, channel, recognise) } = task;
    const placed = await journal.note(task.id, (draft) => {
      draft.statusId = statusId;
    });
    const workId = await thread(placed, channel, statusId);
    return journal.note(task.id, (draft) => {
      draft.workId = workId;
      draft.lastId = statusId;
    });
  };
}
export type SettlePlace = ReturnType<typeof createPlaces>;

/** The bot's own message with the task's name at its beginning. */
async function findStatus(client: Client, task: Task, channel: SendableChannels): Promise<string | undefined> {
  const latest = await channel.messages.fetch({ limit: LOOKED_THROUGH, cache: false });
  const start = `**Task ${labelOf(task)}**`;
  return latest.find(({ author, content }) => author.id === client.user?.id && content.startsWith(start))?.id;
}

/** What a person is told when their task could not even begin. */
export const unplaced = (error: unknown): UserError =>
  error instanceof UserError ? error : new UserError('I could not begin with this: Discord did not take my message.');
