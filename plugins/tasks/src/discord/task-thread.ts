import { findSendable, sendOnce, t, UserError } from '@cinnabar/sdk';
import { type Client, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import { type BaseContext, Interrupted } from '../context.js';
import { labelOf, type Task } from '../task.js';
import { statusText } from './wording.js';

const LOOKED_THROUGH = 50;
const THREAD_NAME = 90;

/**
 * Gives a task its status message and the thread below it; the channel itself where there can be no thread. Messages that were sent before a crash
 * are found by the task's name in them. @throws UserError when the bot may not write there
 */
export async function prepareThread(context: BaseContext, task: Task, recognise: boolean): Promise<Task> {
  if (task.workId !== undefined) return task;
  const { client, journal } = context;
  const channel = await writableChannel(client, task.actor.channelId);
  const { statusId = await statusMessage(context, task, channel, recognise) } = task;
  const posted = await journal.note(task.id, (draft) => {
    draft.statusId = statusId;
  });
  const workId = await threadFor(context, posted, channel, statusId);
  return journal.note(task.id, (draft) => {
    draft.workId = workId;
    draft.lastId = statusId;
  });
}

async function statusMessage(
  { client, clock, components, signal }: BaseContext,
  task: Task,
  channel: SendableChannels,
  recognise: boolean,
): Promise<string> {
  const known = recognise ? await findStatus(client, task, channel) : undefined;
  if (known !== undefined) return known;
  const reference = task.messageId;
  const message = {
    content: statusText(task, undefined),
    components: components.statusRows(task),
    allowedMentions: { parse: [], repliedUser: false },
    ...(reference === undefined ? {} : { reply: { messageReference: reference, failIfNotExists: false } as const }),
  };
  try {
    return (await sendOnce(channel, message, `${task.id}\nstatus`, { clock, signal })).id;
  } catch (error) {
    if (signal.aborted) throw new Interrupted();
    throw error;
  }
}

/** The bot's own message with the task's name at its beginning, in any language. */
async function findStatus(client: Client, task: Task, channel: SendableChannels): Promise<string | undefined> {
  const latest = await channel.messages.fetch({ limit: LOOKED_THROUGH, cache: false });
  const hasName = (content: string) => {
    const [before, name] = content.split('**', 2);
    return before === '' && name?.endsWith(` ${labelOf(task)}`) === true;
  };
  return latest.find(({ author, content }) => author.id === client.user?.id && hasName(content))?.id;
}

async function threadFor(
  { client, settings, log }: BaseContext,
  task: Task,
  channel: SendableChannels,
  statusId: string,
): Promise<string> {
  const { threads } = await settings.guild(task.actor.guildId).get();
  if (!threads || !mayOpenThread(client, channel)) return channel.id;
  try {
    const message = await channel.messages.fetch(statusId);
    const name = `${task.prompt.replaceAll(/\s+/g, ' ').trim().slice(0, THREAD_NAME)} · ${labelOf(task)}`;
    const thread = message.thread ?? (await message.startThread({ name }));
    // Members of a thread see it in their list, and are notified of messages in it.
    await thread.members.add(task.actor.userId).catch((error: unknown) => {
      log.info('a member could not be added to the thread of their task', { taskId: task.id, error });
    });
    return thread.id;
  } catch (error) {
    log.info('a task works in the channel: it could not have a thread', { taskId: task.id, error });
    return channel.id;
  }
}

/** @throws UserError when the bot cannot write there */
export async function writableChannel(client: Client, channelId: string): Promise<SendableChannels> {
  const channel = await findSendable(client, channelId);
  if (channel === undefined) throw new UserError(t('I cannot see the channel of this task.'));
  const own = channel.isDMBased() || client.user === null ? undefined : channel.permissionsFor(client.user);
  const send = channel.isThread() ? PermissionFlagsBits.SendMessagesInThreads : PermissionFlagsBits.SendMessages;
  if (channel.isDMBased() || own?.has(PermissionFlagsBits.ViewChannel | send) === true) return channel;
  throw new UserError(t('I may not write in the channel of this task.'));
}

/** Whether a message there can have a thread of its own, and the bot may open and use it. */
function mayOpenThread(client: Client, channel: SendableChannels): boolean {
  if (channel.isDMBased() || channel.isThread() || !('threads' in channel) || client.user === null) return false;
  const needed = PermissionFlagsBits.CreatePublicThreads | PermissionFlagsBits.SendMessagesInThreads;
  return channel.permissionsFor(client.user)?.has(needed) === true;
}
