import { createHash } from 'node:crypto';
import { type Clock, type Logger, type TaskMessage, textMessages, UserError } from '@cinnabar/sdk';
import type { Client, MessageCreateOptions, SendableChannels } from 'discord.js';
import type { Question, Task } from '../model/task.js';
import { writableChannel } from './channels.js';
import type { TaskComponents } from './components.js';
import { isGone } from './errors.js';
import { withPatience } from './patience.js';
import { badge, endingText } from './sentences.js';

/** Something that a task wants to say. */
export interface Saying {
  /** Names it within the task: the same after a restart. */
  readonly key: string;
  readonly kind: TaskMessage['kind'];
  readonly text: string;
  /** For a question: answers to choose from. */
  readonly choices?: readonly string[];
  /** Who is pinged. */
  readonly mention?: string;
}

interface Manner {
  /** It may have been said before the process was restarted: then it is looked for, and not said again. */
  readonly recognise: boolean;
  readonly signal: AbortSignal;
}

/** How a task speaks in Discord. Whatever it says carries its badge; nobody is pinged but who is asked. */
export interface Speaker {
  /** Resolves with the ids of the messages. @throws UserError when nothing can be said there any more; Interrupted */
  say(task: Task, saying: Saying, manner: Manner): Promise<string[]>;
  sayEnding(task: Task, manner: Pick<Manner, 'recognise'>): Promise<{ readonly text: string; readonly ids: string[] }>;
  /** Takes the buttons off a question, and shows its answer. */
  closeQuestion(
    task: Task,
    messageIds: readonly string[],
    saying: Saying,
    answer: NonNullable<Question['answer']>,
  ): Promise<void>;
  /** The same for one that will never be answered. */
  dropQuestion(task: Task): Promise<void>;
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
const LOOKED_THROUGH = 100;
const NONCE_LENGTH = 25;
const UNWRITABLE = 'I cannot write in the place of this task any more.';

export function createSpeaker({ client, clock, log, components, signal: stopped }: SpeakerParts): Speaker {
  const send = async (task: Task, key: string, parts: readonly MessageCreateOptions[], manner: Manner) => {
    try {
      const channel = await writableChannel(client, task.workId ?? task.actor.channelId);
      const said = manner.recognise ? await alreadySaid(channel, task, parts) : [];
      const ids = [...said];
      for (const [index, part] of parts.entries()) {
        if (index < said.length) continue;
        const nonce = nonceOf(task.id, key, index);
        const post = async () => (await channel.send({ ...part, nonce, enforceNonce: true })).id;
        ids.push(await withPatience(clock, manner.signal, post));
      }
      return ids;
    } catch (error) {
      if (isGone(error)) throw new UserError(UNWRITABLE, { cause: error });
      throw error;
    }
  };

  /** The messages among what the bot has written since with exactly this content, from the first part on. */
  const alreadySaid = async (channel: SendableChannels, task: Task, parts: readonly MessageCreateOptions[]) => {
    const after = task.lastId ?? task.statusId ?? '0';
    const since = await channel.messages.fetch({ after, limit: LOOKED_THROUGH, cache: false });
    const own = [...since.values()].filter(({ author }) => author.id === client.user?.id).reverse();
    const ids: string[] = [];
    for (const { content } of parts) {
      const found = own.find((message) => message.content === content && !ids.includes(message.id));
      if (found === undefined) break;
      ids.push(found.id);
    }
    return ids;
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
    say: (task, saying, manner) => send(task, saying.key, partsOf(task, saying, components), manner),
    async sayEnding(task, { recognise }) {
      const text = endingText(task);
      const options = textMessages(text).map((message) => ({ ...message, allowedMentions: { parse: [] } }));
      const ids = await send(task, 'ending', options, { recognise, signal: stopped }).catch((error: unknown) => {
        // Where nothing can be said, there is nobody to tell.
        if (!(error instanceof UserError)) throw error;
        log.info('the end of a task could not be told', { taskId: task.id, error });
        return [];
      });
      return { text, ids };
    },
    async closeQuestion(task, messageIds, saying, answer) {
      const asked = partsOf(task, saying, components).at(-1)?.content ?? '';
      const line = `-# answered by <@${answer.byUserId}>`;
      await edit(task, messageIds.at(-1), asked.length + line.length < MESSAGE_LIMIT ? `${asked}\n${line}` : undefined);
    },
    async dropQuestion(task) {
      if (task.question?.answer === undefined) await edit(task, task.question?.messageIds?.at(-1), undefined);
    },
  };
}

/** As Discord messages: long text in several, the badge and the buttons on the last. */
function partsOf(task: Task, saying: Saying, components: TaskComponents): MessageCreateOptions[] {
  const { text, kind, choices = [], mention } = saying;
  const words = mention === undefined ? text : `❓ <@${mention}> ${text}`;
  const contents = textMessages(`${words}\n${badge(task, task.stepCount)}`);
  const allowedMentions = { parse: [], users: mention === undefined ? [] : [mention] };
  return contents.map((message, index) => ({
    ...message,
    allowedMentions,
    ...(kind === 'question' && index === contents.length - 1
      ? { components: components.questionRows(task.id, choices) }
      : {}),
  }));
}

function nonceOf(...parts: readonly (string | number)[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('base64url').slice(0, NONCE_LENGTH);
}
