import { isDotMessage } from '@cinnabar/sdk';
import { type Message, MessageType } from 'discord.js';
import type { Journal } from '../journal/journal.js';
import { isFinal, type Task } from '../task.js';

/** What a message in Discord means to a task. */
export interface Meaning {
  readonly taskId: string;
  readonly as: 'answer' | 'words' | 'stop' | 'continue';
}

/** Finds the task that a message is meant for. Runs for every message, so it makes no request. */
export interface TaskIndex {
  add(task: Task): void;
  meaningOf(message: Message): Meaning | undefined;
}

/** So many messages of tasks are known; a reply to an older one is for the chat. */
const MOST_MESSAGES = 20_000;
const STOP = /^(?:please\s+)?(?:stop|halt|abort|cancel)(?:\s+(?:it|this|please|now))*[.!\s]*$/i;

/**
 * In a thread of its own a task hears its member. In another thread and in a direct message it takes their "stop" and the answer to its question;
 * elsewhere, and from others, only replies to its own messages are meant for it. One that is over goes on when its member replies to it.
 */
export function createTaskIndex(journal: Journal): TaskIndex {
  const byThread = new Map<string, string>();
  const byMessage = new Map<string, { readonly id: string; readonly userId: string }>();

  const add = ({ id, actor, workId, statusId, saidIds = [] }: Task) => {
    // A thread that was made for the task has the id of its status message.
    if (workId !== undefined && workId === statusId) byThread.set(workId, id);
    for (const messageId of statusId === undefined ? saidIds : [statusId, ...saidIds]) {
      byMessage.delete(messageId);
      byMessage.set(messageId, { id, userId: actor.userId });
    }
    for (const [oldest] of byMessage) {
      if (byMessage.size <= MOST_MESSAGES) break;
      byMessage.delete(oldest);
    }
  };

  const meaningOf: TaskIndex['meaningOf'] = (message) => {
    if (byMessage.size === 0 || !isByPerson(message)) return undefined;
    const { author, channelId } = message;
    const referred = message.type === MessageType.Reply ? message.reference?.messageId : undefined;
    if (referred === undefined) {
      const task = live(byThread.get(channelId)) ?? addressedIn(message);
      return task?.actor.userId === author.id ? toLive(task, message, undefined) : undefined;
    }
    const replied = byMessage.get(referred);
    if (replied === undefined) return undefined;
    const task = live(replied.id);
    if (task !== undefined) return toLive(task, message, referred);
    // It is over. A word in its thread may be meant for other people, a reply is not.
    return replied.userId === author.id ? { taskId: replied.id, as: 'continue' } : undefined;
  };

  const live = (id: string | undefined): Task | undefined => {
    const task = id === undefined ? undefined : journal.peek(id);
    return task === undefined || isFinal(task.status) ? undefined : task;
  };

  /** Where the conversation is not the task's alone: the latest of the member's tasks that works there for a "stop", else the one that asked last. */
  const addressedIn = ({ channel, channelId, author, content }: Message): Task | undefined => {
    if (!channel.isDMBased() && !channel.isThread()) return undefined;
    const isStop = STOP.test(content);
    return journal.live().findLast(({ actor, question, workId, status }) => {
      if (workId !== channelId || actor.userId !== author.id || isFinal(status)) return false;
      return isStop || (question?.messageIds !== undefined && question.answer === undefined);
    });
  };

  journal.onChange(add);
  return { add, meaningOf };
}

function toLive({ id: taskId, question }: Task, { content }: Message, referred: string | undefined): Meaning {
  if (STOP.test(content)) return { taskId, as: 'stop' };
  const open = question?.answer === undefined ? question?.messageIds : undefined;
  const isAnswer = open !== undefined && (referred === undefined || open.includes(referred));
  return { taskId, as: isAnswer ? 'answer' : 'words' };
}

function isByPerson({ author, webhookId, content, attachments, type }: Message): boolean {
  if (author.bot || webhookId !== null || isDotMessage(content)) return false;
  if (content.trim() === '' && attachments.size === 0) return false;
  return type === MessageType.Default || type === MessageType.Reply;
}
