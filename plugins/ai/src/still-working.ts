import {
  asNotice,
  type Clock,
  type Collections,
  isForbidden,
  isOwnMessage,
  isUnknown,
  type Logger,
  mayRefer,
  retryDiscord,
  sendOnce,
  type Turn,
  z,
} from '@cinnabar/sdk';
import type { Client, Message, SendableChannels } from 'discord.js';

/** Words that stand in Discord, by the message that asked: written before they are sent, so that a start finds what a killed process left. */
export const collections = {
  stillWorking: {
    scope: 'global',
    version: 1,
    schema: z.object({
      channelId: z.string(),
      content: z.string(),
      /** Of the word; missing until Discord has confirmed it. */
      wordId: z.string().optional(),
    }),
  },
} as const;

const LOOKED_THROUGH = 100;

interface Parts {
  readonly words: Collections<typeof collections>['stillWorking'];
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
}

/** Says that an answer takes its time. */
export interface StillWorking {
  /**
   * Says so once, unless something of the answer can be seen by then, and takes that back when it is there. A slash command shows it by
   * itself, and who has not asked waits for nothing.
   * @param afterSeconds 0 for never
   * @returns ends it
   */
  watch(turn: Turn, afterSeconds: number, deadlineSeconds: number): () => Promise<void>;
  /** Takes back what an earlier process left. Never rejects. */
  removeLeft(): Promise<void>;
}

export function createStillWorking({ words, client, clock, log, signal }: Parts): StillWorking {
  const failed = (error: unknown) => {
    log.debug('it could not be said, or taken back, that an answer takes its time', { error });
    return undefined;
  };

  const say = async (turn: Turn, message: Message, deadlineSeconds: number): Promise<Message | undefined> => {
    const { channel } = turn;
    if (isAnswered(turn, message)) return undefined;
    const content = asNotice(`-# I am still working on this. I give up after ${deadlineSeconds} s.`);
    const record = words.of(message.id);
    await record.set({ channelId: channel.id, content });
    const word = await sendOnce(
      channel,
      {
        content,
        allowedMentions: { parse: [] },
        ...(mayRefer(channel) ? { reply: { messageReference: message, failIfNotExists: false } } : {}),
      },
      `${turn.id}:still-working`,
      { clock, signal: turn.signal },
    );
    await record.set({ channelId: channel.id, content, wordId: word.id }).catch(failed);
    return word;
  };

  const takeBack = async (askedId: string, channel: SendableChannels | undefined, wordId: string | undefined) => {
    if (channel !== undefined && wordId !== undefined)
      await channel.messages.delete(wordId).catch((error: unknown) => {
        if (!isGone(error)) throw error;
      });
    await words.of(askedId).delete();
  };

  const removeOne = async (
    askedId: string,
    left: { channelId: string; content: string; wordId?: string | undefined },
  ) => {
    const channel = await client.channels.fetch(left.channelId).catch((error: unknown) => {
      if (!isGone(error)) throw error;
      return null;
    });
    const place = channel?.isSendable() === true ? channel : undefined;
    const wordId = left.wordId ?? (place && (await findWord(place, askedId, left.content)));
    await takeBack(askedId, place, wordId);
  };

  return {
    watch(turn, afterSeconds, deadlineSeconds) {
      const { channel, message, trigger } = turn;
      const isAwaited = message !== null && trigger !== 'random' && trigger !== 'name';
      if (!isAwaited || afterSeconds === 0 || afterSeconds >= deadlineSeconds) return async () => undefined;
      let said: Promise<Message | undefined> | undefined;
      const cancel = clock.after(afterSeconds * 1_000, () => {
        said = say(turn, message, deadlineSeconds).catch(failed);
      });
      return async () => {
        cancel();
        const word = await said;
        if (word === undefined) return;
        const remove = () => takeBack(message.id, channel, word.id);
        // The answer is not held up by a Discord that fails.
        await remove().catch(() => void retryDiscord(clock, remove, { signal }).catch(failed));
      };
    },
    async removeLeft() {
      try {
        for await (const [askedId, left] of words.entries())
          await retryDiscord(clock, () => removeOne(askedId, left), { signal }).catch(failed);
      } catch (error) {
        failed(error);
      }
    },
  };
}

/** Whether something of the answer is there: the bot's reply to what was asked. Where it may not refer, any later message of it counts. */
function isAnswered({ channel, earlier }: Turn, message: Message): boolean {
  const asked = new Set([message.id, ...earlier.flatMap((turn) => turn.message?.id ?? [])]);
  const refers = mayRefer(channel);
  return channel.messages.cache.some(
    (one) =>
      isOwnMessage(one) &&
      // What is said through a webhook refers to nothing, either.
      (refers && one.author.id === channel.client.user.id
        ? asked.has(one.reference?.messageId ?? '')
        : BigInt(one.id) > BigInt(message.id)),
  );
}

/** A word whose sending was never confirmed. */
async function findWord(channel: SendableChannels, askedId: string, content: string): Promise<string | undefined> {
  const since = await channel.messages.fetch({ after: askedId, limit: LOOKED_THROUGH, cache: false });
  return since.find(
    (one) =>
      one.author.id === channel.client.user.id &&
      one.content === content &&
      (one.reference === null || one.reference.messageId === askedId),
  )?.id;
}

const isGone = (error: unknown): boolean => isUnknown(error) || isForbidden(error);
