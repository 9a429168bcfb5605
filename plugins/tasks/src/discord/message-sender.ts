import {
  asNotice,
  type Clock,
  isUnreachable,
  type Logger,
  noticeLine,
  plainText,
  sendOnce,
  type TaskMessage,
  textMessages,
  UserError,
  visible,
} from '@cinnabar/sdk';
import type { Client, MessageCreateOptions } from 'discord.js';
import { Interrupted } from '../running/run-control.js';
import { keyOf, type Question, type Task } from '../task.js';
import type { TaskComponents } from './buttons.js';
import { writableChannel } from './channels.js';
import { badge, endingText } from './wording.js';

/** Something that a task wants to say. */
export interface Saying {
  /** Names it within the task: the same after a restart. */
  readonly key: string;
  readonly kind: TaskMessage['kind'];
  readonly text: string;
  /** For a question: answers to choose from. */
  readonly choices?: readonly string[];
  /** Who is pinged. */
  readonly mention?: string | undefined;
}

interface Manner {
  /** It may have been said before the process was restarted: then it is looked for, and not said again. */
  readonly recognise: boolean;
  readonly signal: AbortSignal;
}

export interface SpeakerParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly components: TaskComponents;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
}

const MESSAGE_LIMIT = 2_000;
/** Of an answer, below its question. */
const SHOWN_ANSWER = 150;
const HOW_TO_ANSWER = ' · answer with a button, or as a reply to this';
const UNWRITABLE = 'I cannot write in the place of this task any more.';

/** How a task speaks in Discord. Whatever it says carries its badge; nobody is pinged but who is asked. */
export function createSpeaker({ client, clock, log, components, signal: stopped }: SpeakerParts) {
  const send = async (task: Task, key: string, parts: readonly MessageCreateOptions[], manner: Manner) => {
    try {
      const channel = await writableChannel(client, task.workId ?? task.actor.channelId);
      const ids: string[] = [];
      for (const [index, part] of parts.entries()) {
        const sentAfter = manner.recognise ? (ids.at(-1) ?? task.lastId ?? task.statusId ?? '0') : undefined;
        const once = { clock, signal: manner.signal, sentAfter };
        ids.push((await sendOnce(channel, part, [task.id, key, index].join('\n'), once)).id);
      }
      return ids;
    } catch (error) {
      if (manner.signal.aborted) throw new Interrupted();
      if (isUnreachable(error)) throw new UserError(UNWRITABLE, { cause: error });
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

  return {
    /** Resolves with the ids of the messages. @throws UserError when nothing can be said there any more; Interrupted */
    say(task: Task, saying: Saying, manner: Manner): Promise<string[]> {
      const hint = saying.kind === 'question' && isInChannel(client, task) ? HOW_TO_ANSWER : '';
      return send(task, saying.key, partsOf(task, saying, components, hint), manner);
    },
    /** @param mention who is pinged */
    async sayEnding(
      task: Task,
      { recognise, mention }: Pick<Manner, 'recognise'> & { readonly mention: string | undefined },
    ): Promise<{ readonly text: string; readonly ids: string[] }> {
      const { head, text: body, foot } = endingText(task, mention);
      const text = `${head}${body}${foot}`;
      const options = textMessages(body, { head, foot }).map((message) => ({
        ...message,
        allowedMentions: mentionsOf(mention),
      }));
      const ids = await send(task, keyOf(task, 'ending'), options, { recognise, signal: stopped }).catch(
        (error: unknown) => {
          // Where nothing can be said, there is nobody to tell.
          if (!(error instanceof UserError)) throw error;
          log.info('the end of a task could not be told', { taskId: task.id, error });
          return [];
        },
      );
      return { text, ids };
    },
    /** Takes the buttons off a question, and shows its answer. */
    async closeQuestion(
      task: Task,
      messageIds: readonly string[],
      saying: Saying,
      answer: NonNullable<Question['answer']>,
    ): Promise<void> {
      const asked = partsOf(task, saying, components).at(-1)?.content ?? '';
      const said = answer.text.replaceAll(/\s+/g, ' ').trim();
      const shown = plainText(visible(said.length <= SHOWN_ANSWER ? said : `${said.slice(0, SHOWN_ANSWER)}…`));
      const line = noticeLine(`-# answered by <@${answer.byUserId}>: ${shown}`);
      await edit(task, messageIds.at(-1), asked.length + line.length < MESSAGE_LIMIT ? `${asked}\n${line}` : undefined);
    },
    /** The same for one that will never be answered. */
    async dropQuestion(task: Task): Promise<void> {
      if (task.question?.answer === undefined) await edit(task, task.question?.messageIds?.at(-1), undefined);
    },
  };
}

export type Speaker = ReturnType<typeof createSpeaker>;

/** As Discord messages: long text in several or in a file, the mention on the first, the badge and the buttons on the last. */
function partsOf(task: Task, saying: Saying, components: TaskComponents, hint = ''): MessageCreateOptions[] {
  const { text, kind, choices = [], mention } = saying;
  const ping = mention === undefined ? '' : `<@${mention}> `;
  const contents = textMessages(text, {
    head: kind === 'question' ? `❓ ${ping}` : ping,
    foot: `\n${badge(task, task.stepCount, hint)}`,
  });
  const allowedMentions = mentionsOf(mention);
  // What the host says for the task is nothing that its model has said.
  const marked = kind === 'warning' ? contents.map((one) => ({ ...one, content: asNotice(one.content) })) : contents;
  return marked.map((message, index) => ({
    ...message,
    allowedMentions,
    ...(kind === 'question' && index === marked.length - 1
      ? { components: components.questionRows(task.id, choices) }
      : {}),
  }));
}

/** A channel of a server is full of other words: only replies there are answers. */
function isInChannel(client: Client, { workId, actor }: Task): boolean {
  const channel = client.channels.cache.get(workId ?? actor.channelId);
  return channel !== undefined && !channel.isDMBased() && !channel.isThread();
}

const mentionsOf = (userId: string | undefined) => ({ parse: [], users: userId === undefined ? [] : [userId] });
