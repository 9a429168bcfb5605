import {
  type Actor,
  asNotice,
  type ComponentDefinition,
  type ComponentHandle,
  isDotMessage,
  plainText,
  sentenceOf,
  type Tasks,
  t,
  visible,
} from '@cinnabar/sdk';
import { ComponentType, type Message, MessageType, TextInputStyle } from 'discord.js';
import type { TaskContext } from '../context.js';
import type { Journal } from '../journal/journal.js';
import { assertMay } from '../permissions.js';
import { isFinal, type Task } from '../task.js';
import { actorIn } from './status-board.js';

/** The meaning of a Discord message for a task. */
interface Meaning {
  readonly taskId: string;
  readonly as: 'answer' | 'words' | 'stop' | 'continue';
}

/** Finds the task that a message is for. Makes no request, because it runs for every message. */
export interface TaskIndex {
  add(task: Task): void;
  meaningOf(message: Message): Meaning | undefined;
}

/** Number of known messages of tasks. A reply to an older one is not recognised, and goes to the channel's responder. */
const MOST_MESSAGES = 20_000;
const STOP = /^(?:please\s+)?(?:stop|halt|abort|cancel)(?:\s+(?:it|this|please|now))*[.!\s]*$/i;

/**
 * In its own thread, a task receives every message of its member. In another thread and in a direct message it receives their "stop" and the answer to its
 * question; elsewhere, and from other members, only replies to its own messages. A finished task continues when its member replies to it.
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
    // The task has ended. Messages in its thread may be for other people; a reply is not.
    return replied.userId === author.id ? { taskId: replied.id, as: 'continue' } : undefined;
  };

  const live = (id: string | undefined): Task | undefined => {
    const task = id === undefined ? undefined : journal.peek(id);
    return task === undefined || isFinal(task.status) ? undefined : task;
  };

  /**
   * The task of the author for which a message in a shared conversation is: for "stop", the latest that works there; otherwise the latest with an open
   * question.
   */
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

const LONGEST_ANSWER = 2_000;
/** Discord's limits for the title of a form and the placeholder of a field. */
const LONGEST_TITLE = 45;
const LONGEST_PLACEHOLDER = 100;

/** The buttons of a question: its choices, and one that opens a form. A member who may not answer is refused before the form opens. */
export function answerButtons(context: TaskContext, tasks: Tasks, form: ComponentHandle): ComponentDefinition['run'] {
  return async (interaction, [action = '', id = '', index = '']) => {
    if (!interaction.isButton()) return;
    const task = context.journal.peek(id);
    const question = task?.question;
    const choice = question?.choices[Number(index)];
    if (action === 'choose' && choice !== undefined) {
      await tasks.answer(id, choice, actorIn(interaction));
      await interaction.deferUpdate();
    } else if (action === 'write' && task !== undefined && question !== undefined) {
      await assertMay(context, task, actorIn(interaction), 'answerTier', 'answer its question');
      await interaction.showModal({
        custom_id: form.customId(id),
        title: clip(question.text, LONGEST_TITLE),
        components: [
          {
            type: ComponentType.ActionRow,
            components: [
              {
                type: ComponentType.TextInput,
                custom_id: 'text',
                label: t('Answer'),
                style: TextInputStyle.Paragraph,
                placeholder: clip(question.text, LONGEST_PLACEHOLDER),
                max_length: LONGEST_ANSWER,
              },
            ],
          },
        ],
      });
    } else await interaction.reply({ content: t('This question is not open any more.'), flags: 'Ephemeral' });
  };
}

/** Handles the form of the button `Answer…`. */
export function answerForm(tasks: Tasks): ComponentDefinition['run'] {
  return async (interaction, [id = '']) => {
    if (!interaction.isModalSubmit()) return;
    await tasks.answer(id, interaction.fields.getTextInputValue('text'), actorIn(interaction));
    await interaction.reply({ content: t('Thank you, it goes on.'), flags: 'Ephemeral' });
  };
}

/** Handles and acknowledges a message for a task. A message of a member who may not act on the task is ignored, because it is ordinary conversation. */
export async function handleMessage(
  { journal, log }: TaskContext,
  tasks: Tasks,
  { taskId, as }: Meaning,
  message: Message,
): Promise<void> {
  const { author, guildId, channelId, content } = message;
  const by: Actor = { userId: author.id, guildId, channelId };
  const words = { text: textOf(message), messageId: message.id };
  try {
    if (as === 'stop') await tasks.stop(taskId, by);
    else if (as === 'continue') {
      await tasks.continue(taskId, words, by);
      await acknowledge();
    } else if (as === 'words') await hear();
    else await answer(journal.peek(taskId));
  } catch (error) {
    if (sentenceOf(error) === undefined) throw error;
    log.debug('a message was not meant for a task', { taskId, messageId: message.id, error });
    if (as === 'continue')
      await message.reply({ content: asNotice(sentenceOf(error) ?? ''), allowedMentions: { parse: [] } });
  }

  async function answer(task: Task | undefined): Promise<void> {
    const choices = task?.question?.choices ?? [];
    if (choices.length === 0) return void (await tasks.answer(taskId, words.text, by));
    const choice = chosenBy(content, choices);
    if (choice !== undefined) return void (await tasks.answer(taskId, choice, by));
    // The text is not one of the choices, such as "one moment": the task reads it, and the question stays open.
    await hear();
    const listed = choices.map((one) => plainText(visible(one))).join(' · ');
    await message.reply({
      content: asNotice(
        t('The question is still open: {choices}. For any other answer there is the button “Answer…”.', {
          choices: listed,
        }),
      ),
      allowedMentions: { parse: [] },
    });
  }

  async function hear(): Promise<void> {
    await tasks.say(taskId, words, by);
    await acknowledge();
  }

  async function acknowledge(): Promise<void> {
    await message.react('👀').catch((error: unknown) => log.debug('a message was not acknowledged', { taskId, error }));
  }
}

/** The typed choice: its full text, its number, or an unambiguous prefix. */
export function chosenBy(typed: string, choices: readonly string[]): string | undefined {
  const wanted = plain(typed);
  if (wanted === '') return undefined;
  const whole = choices.find((choice) => plain(choice) === wanted);
  const byNumber = /^\d$/.test(wanted) ? choices[Number(wanted) - 1] : undefined;
  const beginning = choices.filter((choice) => plain(choice).startsWith(`${wanted} `));
  return whole ?? byNumber ?? (beginning.length === 1 ? beginning[0] : undefined);
}

const plain = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

const clip = (text: string, most: number) => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
};

/** The text of a message, with its attachments by name and address. */
export function textOf({ content, attachments }: Pick<Message, 'content' | 'attachments'>): string {
  const files = [...attachments.values()].map(
    ({ name, contentType, size, url }) =>
      `[attachment ${name}, ${contentType ?? 'unknown type'}, ${size} bytes: ${url}]`,
  );
  return [content.trim(), ...files].filter((part) => part !== '').join('\n');
}
