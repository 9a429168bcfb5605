import {
  asNotice,
  findSendable,
  isRefusal,
  isUnreachable,
  noticeLine,
  OLDEST_ID,
  plainText,
  sendOnce,
  sendText,
  type TaskMessage,
  type TextPart,
  t,
  textMessages,
  UserError,
  visible,
} from '@cinnabar/sdk';
import { type Client, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import { type BaseContext, Interrupted, type Rules } from '../context.js';
import { type Ending, keyOf, labelOf, linkTo, type Question, type Task } from '../task.js';
import type { TaskComponents } from './status-board.js';
import { badge, endingText, promptLine, statusText } from './wording.js';

/** A message that a task sends. */
export interface OutgoingMessage {
  /** Identifies the message within the task; stays the same after a restart. */
  readonly key: string;
  readonly kind: TaskMessage['kind'];
  readonly text: string;
  /** The choices of a question. */
  readonly choices?: readonly string[];
  /** The member who is pinged. */
  readonly mention?: string | undefined;
}

interface SendOptions {
  /** Whether a previous run may have sent it; then it is searched for first. */
  readonly recognise: boolean;
  readonly signal: AbortSignal;
}

/** Events that a member is notified of. */
type NoticeKind = 'ended' | 'question' | 'approval';

const MESSAGE_LIMIT = 2_000;
/** Length of the answer that is shown below its question, in characters. */
const SHOWN_ANSWER = 150;
/** Length of a result at the place where the task was started, in characters. */
const SHOWN_RESULT = 1_500;

function noticeText(kind: NoticeKind, task: string): string {
  const texts: Readonly<Record<NoticeKind, string>> = {
    ended: t('Your task {task} is over', { task }),
    question: t('Your task {task} has a question for you', { task }),
    approval: t('Your task {task} waits for your approval', { task }),
  };
  return texts[kind];
}

/** The report of how a task ended, for the place where it was started. */
function reportText({ kind, text }: Ending, task: string, member: string): string {
  const values = { task, member, text };
  const texts: Readonly<Record<Ending['kind'], string>> = {
    complete: t('The task {task} that I started for {member} is complete: {text}', values),
    limit: t('The task {task} that I started for {member} has ended at a limit: {text}', values),
    stopped: t('The task {task} that I started for {member} was stopped: {text}', values),
    breaker: t('The task {task} that I started for {member} has ended without a result: {text}', values),
    failed: t('The task {task} that I started for {member} has failed: {text}', values),
    gone: t('The task {task} that I started for {member} has ended: {text}', values),
  };
  return texts[kind];
}

/** Sends the messages of tasks, each with the task's badge, and notices to their members. Pings only the members that a message names. */
export function createSpeaker({ client, clock, log, components, signal: stopped }: BaseContext) {
  const send = async (task: Task, key: string, parts: readonly TextPart[], options: SendOptions, mention?: string) => {
    try {
      const channel = await writableChannel(client, task.workId ?? task.actor.channelId);
      const sentAfter = options.recognise ? (task.lastId ?? task.statusId ?? OLDEST_ID) : undefined;
      const once = { clock, signal: options.signal, sentAfter, allowedMentions: mentionsOf(mention) };
      return (await sendText(channel, parts, `${task.id}\n${key}`, once)).map(({ id }) => id);
    } catch (error) {
      if (options.signal.aborted) throw new Interrupted();
      if (isUnreachable(error)) {
        throw new UserError(t('I cannot write in the place of this task any more.'), { cause: error });
      }
      throw error;
    }
  };

  const edit = async (task: Task, messageId: string | undefined, content: string | undefined) => {
    if (messageId === undefined) return;
    try {
      const channel = await writableChannel(client, task.workId ?? task.actor.channelId);
      const words = content === undefined ? {} : { content };
      await channel.messages.edit(messageId, { ...words, components: [], allowedMentions: { parse: [] } });
    } catch (error) {
      log.info('a question of a task could not be closed', { taskId: task.id, error });
    }
  };

  /** Pings a member who accepts no direct messages, and whom no message in the task's thread has pinged. */
  const pingInThread = async ({ id, actor, workId }: Task, key: string, kind: NoticeKind): Promise<void> => {
    try {
      const channel = await findSendable(client, workId ?? actor.channelId);
      if (channel === undefined) return;
      const content = asNotice(`🔔 <@${actor.userId}> ${noticeText(kind, labelOf({ id }))}.`);
      const message = { content, allowedMentions: mentionsOf(actor.userId) };
      await sendOnce(channel, message, `${id}\n${key}\nping`, { clock, signal: stopped });
    } catch (error) {
      log.info('a member could not be notified of their task', { taskId: id, error });
    }
  };

  return {
    /** Resolves with the ids of the sent messages. @throws UserError when the bot can no longer write there; Interrupted */
    say(task: Task, message: OutgoingMessage, options: SendOptions): Promise<string[]> {
      const isReplied = message.kind === 'question' && isInChannel(client, task);
      const hint = isReplied ? ` · ${t('answer with a button, or as a reply to this')}` : '';
      return send(task, message.key, partsOf(task, message, components, hint), options, message.mention);
    },
    /** @param mention the member who is pinged */
    async sayEnding(
      task: Task,
      { recognise, mention }: { readonly recognise: boolean; readonly mention: string | undefined },
    ): Promise<{ readonly text: string; readonly ids: string[] }> {
      const { head, text, foot } = endingText(task, mention);
      const parts = textMessages(text, { head, foot });
      const options = { recognise, signal: stopped };
      const ids = await send(task, keyOf(task, 'ending'), parts, options, mention).catch((error: unknown) => {
        // A UserError means that the bot cannot write there.
        if (!(error instanceof UserError)) throw error;
        log.info('the end of a task could not be told', { taskId: task.id, error });
        return [];
      });
      return { text: `${head}${text}${foot}`, ids };
    },
    /** Removes the buttons of a question, and shows its answer. */
    async closeQuestion(
      task: Task,
      messageIds: readonly string[],
      message: OutgoingMessage,
      answer: NonNullable<Question['answer']>,
    ): Promise<void> {
      const asked = partsOf(task, message, components).at(-1)?.content ?? '';
      const said = answer.text.replaceAll(/\s+/g, ' ').trim();
      const shown = plainText(visible(said.length <= SHOWN_ANSWER ? said : `${said.slice(0, SHOWN_ANSWER)}…`));
      const line = noticeLine(
        `-# ${t('answered by {member}: {answer}', { member: `<@${answer.byUserId}>`, answer: shown })}`,
      );
      await edit(task, messageIds.at(-1), asked.length + line.length < MESSAGE_LIMIT ? `${asked}\n${line}` : undefined);
    },
    /** Removes the buttons of a question that will never be answered. */
    async dropQuestion(task: Task): Promise<void> {
      if (task.question?.answer === undefined) await edit(task, task.question?.messageIds?.at(-1), undefined);
    },
    /**
     * Sends a direct message if the server's settings say so, or pings the member in the thread if they accept none. Never rejects.
     * @param key identifies the notice within the task
     */
    async notify(task: Task, { notify }: Pick<Rules, 'notify'>, key: string, kind: NoticeKind): Promise<void> {
      const { actor, id } = task;
      if (notify !== 'dm' || actor.guildId === null) return;
      const link = linkTo(task);
      const content = `🔔 ${noticeText(kind, labelOf(task))}${link === undefined ? '' : `: ${link}`}\n> ${promptLine(task)}`;
      try {
        const direct = await client.users.createDM(actor.userId);
        const message = { content: asNotice(content), allowedMentions: { parse: [] } };
        await sendOnce(direct, message, `${id}\n${key}\ndirect`, { clock, signal: stopped });
      } catch (error) {
        const level = isRefusal(error) ? 'debug' : 'info';
        log[level]('a member could not be notified of their task by direct message', { taskId: id, error });
        if (isRefusal(error)) await pingInThread(task, key, kind);
      }
    },
    /**
     * Posts the result of a task that another responder started in that responder's channel, where it reads the result. Never rejects.
     * @param recognise whether a previous run may have sent it
     */
    async reportBack(task: Task, recognise: boolean): Promise<void> {
      const { actor, id, origin, ending, workId, requester } = task;
      if (origin !== 'tool' || ending === undefined || workId === actor.channelId) return;
      const text = reportText(ending, labelOf(task), plainText(requester));
      const content =
        text.length <= SHOWN_RESULT ? text : `${text.slice(0, SHOWN_RESULT)}… ${t('(all of it is in its thread)')}`;
      try {
        const channel = await findSendable(client, actor.channelId);
        if (channel === undefined) return;
        const once = { clock, signal: stopped, ...(recognise ? { sentAfter: task.statusId ?? OLDEST_ID } : {}) };
        const key = `${id}\n${keyOf(task, 'elsewhere')}`;
        await sendOnce(channel, { content, allowedMentions: { parse: [] } }, key, once);
      } catch (error) {
        log.info('the end of a task could not be told where it was started', { taskId: id, error });
      }
    },
  };
}

export type Speaker = ReturnType<typeof createSpeaker>;

/** The Discord messages of a text: several for a long one, or a file; the mention is in the first, badge and buttons are in the last. */
function partsOf(task: Task, message: OutgoingMessage, components: TaskComponents, hint = ''): readonly TextPart[] {
  const { text, kind, choices = [], mention } = message;
  const ping = mention === undefined ? '' : `<@${mention}> `;
  const contents = textMessages(text, {
    head: kind === 'question' ? `❓ ${ping}` : ping,
    foot: `\n${badge(task, task.stepCount, hint)}`,
  });
  // A warning is a notice, because it comes from the host and not from the task's model.
  const marked = kind === 'warning' ? contents.map((one) => ({ ...one, content: asNotice(one.content) })) : contents;
  return marked.map((part, index) => ({
    ...part,
    ...(kind === 'question' && index === marked.length - 1
      ? { components: components.questionRows(task.id, choices) }
      : {}),
  }));
}

/** Whether the task works in a channel of a server, in which only replies count as answers. */
function isInChannel(client: Client, { workId, actor }: Task): boolean {
  const channel = client.channels.cache.get(workId ?? actor.channelId);
  return channel !== undefined && !channel.isDMBased() && !channel.isThread();
}

const mentionsOf = (userId: string | undefined) => ({ parse: [], users: userId === undefined ? [] : [userId] });

const LOOKED_THROUGH = 50;
const THREAD_NAME = 90;

/**
 * Posts a task's status message, and creates its thread; where threads are impossible, the task works in the channel. After a crash, messages of the task are
 * found by its name in them. @throws UserError when the bot may not write there
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

/** The bot's own message that begins with the task's name, in any language. */
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
    // Members of a thread see it in their list and are notified of its messages.
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
async function writableChannel(client: Client, channelId: string): Promise<SendableChannels> {
  const channel = await findSendable(client, channelId);
  if (channel === undefined) throw new UserError(t('I cannot see the channel of this task.'));
  const own = channel.isDMBased() || client.user === null ? undefined : channel.permissionsFor(client.user);
  const send = channel.isThread() ? PermissionFlagsBits.SendMessagesInThreads : PermissionFlagsBits.SendMessages;
  if (channel.isDMBased() || own?.has(PermissionFlagsBits.ViewChannel | send) === true) return channel;
  throw new UserError(t('I may not write in the channel of this task.'));
}

/** Whether a message there can have a thread, and the bot may create and use it. */
function mayOpenThread(client: Client, channel: SendableChannels): boolean {
  if (channel.isDMBased() || channel.isThread() || !('threads' in channel) || client.user === null) return false;
  const needed = PermissionFlagsBits.CreatePublicThreads | PermissionFlagsBits.SendMessagesInThreads;
  return channel.permissionsFor(client.user)?.has(needed) === true;
}
