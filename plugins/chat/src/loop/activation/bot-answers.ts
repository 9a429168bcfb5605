import { type Clock, isNotice, isUnfinishedPart, maxEntries } from '@cinnabar/sdk';
import type { Message, PartialMessage } from 'discord.js';
import { LRUCache } from 'lru-cache';

/** What a bot says in one go, once it is whole. */
interface BotAnswer {
  /** Its messages, oldest first. */
  readonly messages: readonly [Message, ...Message[]];
  /** How many answers of bots stand in a row, this one included. */
  readonly chain: number;
}

/** Gathers the messages of bots into answers. */
interface BotAnswers {
  /** A bot has said something. Resolves when what became whole by that has been handled. */
  add(message: Message): Promise<unknown>;
  /** Something was edited: an answer that grows in its message. */
  change(message: Message | PartialMessage): Promise<unknown>;
  /** A message was deleted. The last part of an answer may now be one that was whole already. */
  remove(message: { readonly id: string }): Promise<unknown>;
  /** Drops what is not whole yet. */
  close(): void;
}

interface BotAnswersParts {
  readonly clock: Clock;
  /** Counts an answer into its channel's chain. */
  readonly count: (message: Message) => number;
  readonly onWhole: (answer: BotAnswer) => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}

/** Bots of other programs do not say that an answer goes on: what they say within this time of their last words belongs to it. */
const QUIET_MS = 2_000;
/** An answer that goes on, by its mark, broke off when nothing comes for so long. */
const BROKEN_OFF_MS = 30_000;

interface Growing {
  readonly chain: number;
  readonly messages: Message[];
  /** Whether its bot marks parts that go on: then a part without the mark is the last. */
  marksParts: boolean;
  cancel(): void;
}

export function createBotAnswers({ clock, count, onWhole, onError }: BotAnswersParts): BotAnswers {
  const growing = new Map<string, Growing>();

  const drop = (key: string) => {
    growing.get(key)?.cancel();
    growing.delete(key);
  };
  const finish = async (key: string): Promise<void> => {
    const answer = growing.get(key);
    drop(key);
    const [first, ...others] = answer?.messages ?? [];
    if (answer !== undefined && first !== undefined)
      await onWhole({ messages: [first, ...others], chain: answer.chain });
  };
  const update = async (key: string, answer: Growing): Promise<void> => {
    answer.cancel();
    const last = answer.messages.at(-1);
    if (last === undefined) return drop(key);
    const goesOn = isUnfinishedPart(last);
    if (answer.marksParts && !goesOn) return finish(key);
    answer.marksParts ||= goesOn;
    answer.cancel = clock.after(goesOn ? BROKEN_OFF_MS : QUIET_MS, () => void finish(key).catch(onError));
  };
  const withMessage = (id: string) => [...growing].find(([, { messages }]) => messages.some((one) => one.id === id));

  return {
    async add(message) {
      const key = `${message.channelId}:${message.webhookId ?? message.author.id}:${message.author.username}`;
      // What another bot says between them parts messages that no mark joins.
      const over = [...growing]
        .filter(
          ([other, { marksParts, messages }]) =>
            other !== key && !marksParts && messages[0]?.channelId === message.channelId,
        )
        .map(([other]) => other);
      // Only the first part of an answer is a reply.
      if (message.reference !== null) over.push(key);
      // To handle them may take as long as an answer: the message is added before that, so that a later one does not come before it.
      const handled = over.map(finish);
      const answer = growing.get(key) ?? { chain: count(message), messages: [], marksParts: false, cancel() {} };
      growing.set(key, answer);
      answer.messages.push(message);
      await Promise.all([...handled, update(key, answer)]);
    },
    async change(message) {
      const [key, answer] = withMessage(message.id) ?? [];
      if (key === undefined || answer === undefined || message.partial) return;
      const place = answer.messages.findIndex(({ id }) => id === message.id);
      // What turned out to be a notice is said to members.
      answer.messages.splice(place, 1, ...(isNotice(message) ? [] : [message]));
      await update(key, answer);
    },
    async remove({ id }) {
      const [key, answer] = withMessage(id) ?? [];
      if (key === undefined || answer === undefined) return;
      answer.messages.splice(
        answer.messages.findIndex((one) => one.id === id),
        1,
      );
      await update(key, answer);
    },
    close() {
      for (const key of [...growing.keys()]) drop(key);
    },
  };
}

/** How many answers of bots stand at the end of each channel, with no person's between them. */
interface Chains {
  /** Counts a message in; of an answer in several, only the first. */
  note(message: Message): number;
}

const REMEMBERED = 20_000;

export function createChains(): Chains {
  const lengths = new LRUCache<string, number>(maxEntries(REMEMBERED));
  return {
    note({ channelId, author, webhookId }) {
      if (!author.bot && webhookId === null) {
        lengths.delete(channelId);
        return 0;
      }
      const length = (lengths.get(channelId) ?? 0) + 1;
      lengths.set(channelId, length);
      return length;
    },
  };
}
