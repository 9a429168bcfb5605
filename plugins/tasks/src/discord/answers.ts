import {
  type Access,
  type Actor,
  asNotice,
  type ComponentDefinition,
  type ComponentHandle,
  type Logger,
  plainText,
  sentenceOf,
  type Tasks,
  visible,
} from '@cinnabar/sdk';
import { ComponentType, type Message, TextInputStyle } from 'discord.js';
import type { Journal } from '../journal/journal.js';
import { assertMay } from '../running/permissions.js';
import type { TaskSettings } from '../settings.js';
import type { Task } from '../task.js';
import { actorIn } from './buttons.js';
import type { Meaning } from './task-index.js';

const LONGEST_ANSWER = 2_000;
/** Discord's limits for the title of a form, and for the words in an empty field. */
const LONGEST_TITLE = 45;
const LONGEST_PLACEHOLDER = 100;
const NOT_OPEN = 'This question is not open any more.';

interface AnsweringParts {
  readonly tasks: Tasks;
  readonly journal: Journal;
  readonly access: Access;
  readonly settings: TaskSettings;
  readonly log: Logger;
}

/** The buttons of a question: its choices, and one that opens a form. A member who may not answer gets the refusal before they type. */
export function answerButtons(parts: AnsweringParts, form: ComponentHandle): ComponentDefinition['run'] {
  const { tasks, journal, access, settings } = parts;
  return async (interaction, [action = '', id = '', index = '']) => {
    if (!interaction.isButton()) return;
    const task = journal.peek(id);
    const question = task?.question;
    const choice = question?.choices[Number(index)];
    if (action === 'choose' && choice !== undefined) {
      await tasks.answer(id, choice, actorIn(interaction));
      await interaction.deferUpdate();
    } else if (action === 'write' && task !== undefined && question !== undefined) {
      const { answerTier } = await settings.guild(task.actor.guildId).get();
      await assertMay(access, task, actorIn(interaction), answerTier, 'answer its question');
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
                label: 'Answer',
                style: TextInputStyle.Paragraph,
                placeholder: clip(question.text, LONGEST_PLACEHOLDER),
                max_length: LONGEST_ANSWER,
              },
            ],
          },
        ],
      });
    } else await interaction.reply({ content: NOT_OPEN, flags: 'Ephemeral' });
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
 * Takes a message for what it means to a task, and acknowledges it. From people who may not do that it means nothing: they have just said
 * something.
 */
export async function takeMessage(parts: AnsweringParts, { taskId, as }: Meaning, message: Message): Promise<void> {
  const { tasks, journal, log } = parts;
  const { author, guildId, channelId, content } = message;
  const by: Actor = { userId: author.id, guildId, channelId };
  const words = { text: wordsIn(message), messageId: message.id };
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
    // "One moment" is none of the choices: it is heard, and the question stays open.
    await hear();
    const listed = choices.map((one) => plainText(visible(one))).join(' · ');
    await message.reply({
      content: asNotice(`The question is still open: ${listed}. For any other answer there is the button “Answer…”.`),
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

/** The choice that was typed: itself, its number, or a beginning that only it has. */
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

/** What a message says, with its attachments by name and address. */
export function wordsIn({ content, attachments }: Pick<Message, 'content' | 'attachments'>): string {
  const files = [...attachments.values()].map(
    ({ name, contentType, size, url }) =>
      `[attachment ${name}, ${contentType ?? 'unknown type'}, ${size} bytes: ${url}]`,
  );
  return [content.trim(), ...files].filter((part) => part !== '').join('\n');
}
