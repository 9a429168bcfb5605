import { type ComponentDefinition, type ComponentHandle, type Logger, sentenceOf, type Tasks } from '@cinnabar/sdk';
import { ComponentType, type Message, MessageType, TextInputStyle } from 'discord.js';
import type { Journal } from '../journal/journal.js';
import type { Task } from '../model/task.js';
import { actorIn } from './interaction-actor.js';

const LONGEST_ANSWER = 2_000;

/** The buttons of a question: its choices, and one that opens a form. */
export function answerButtons(tasks: Tasks, journal: Journal, form: ComponentHandle): ComponentDefinition['run'] {
  return async (interaction, [action = '', id = '', index = '']) => {
    if (!interaction.isButton()) return;
    const question = journal.peek(id)?.question;
    const choice = question?.choices[Number(index)];
    if (action === 'choose' && choice !== undefined) {
      await tasks.answer(id, choice, actorIn(interaction));
      await interaction.deferUpdate();
    } else if (action === 'write' && question !== undefined) {
      await interaction.showModal({
        custom_id: form.customId(id),
        title: 'Your answer',
        components: [
          {
            type: ComponentType.ActionRow,
            components: [
              {
                type: ComponentType.TextInput,
                custom_id: 'text',
                label: 'Answer',
                style: TextInputStyle.Paragraph,
                max_length: LONGEST_ANSWER,
              },
            ],
          },
        ],
      });
    } else await interaction.reply({ content: 'This question is not open any more.', flags: 'Ephemeral' });
  };
}

/** The form behind `Answer…`. */
export function answerForm(tasks: Tasks): ComponentDefinition['run'] {
  return async (interaction, [id = '']) => {
    if (!interaction.isModalSubmit()) return;
    await tasks.answer(id, interaction.fields.getTextInputValue('text'), actorIn(interaction));
    await interaction.reply({ content: 'Thank you, it goes on.', flags: 'Ephemeral' });
  };
}

/**
 * The task whose question a message answers, if any: a reply to the question, or in the task's own thread whatever the one who is asked writes
 * there. Runs for every message, so it looks at tasks only, of which there are few.
 */
export function answeredBy(message: Message, journal: Journal): Task | undefined {
  if (journal.live().length === 0) return undefined;
  if (message.author.bot || message.webhookId !== null || message.content.trim() === '') return undefined;
  if (message.type !== MessageType.Default && message.type !== MessageType.Reply) return undefined;
  return journal.live().find((task) => {
    const { question, workId, statusId, actor } = task;
    if (question?.messageIds === undefined || question.answer !== undefined || workId !== message.channelId)
      return false;
    const referred = message.reference?.messageId;
    if (referred !== undefined) return question.messageIds.includes(referred);
    // A thread that was made for the task has the id of its status message.
    return workId === statusId && message.author.id === actor.userId;
  });
}

/** Takes a message for the answer. From somebody who was not asked it is none, and nobody need be told: they have just said something. */
export async function answerBy(tasks: Tasks, { id }: Task, message: Message, log: Logger): Promise<void> {
  const { author, guildId, channelId, content } = message;
  try {
    await tasks.answer(id, content, { userId: author.id, guildId, channelId });
  } catch (error) {
    if (sentenceOf(error) === undefined) throw error;
    log.debug('a message did not answer a question', { taskId: id, messageId: message.id, error });
  }
}
