import {
  asNotice,
  compareIds,
  isOwnMessage,
  mayRefer,
  retryDiscord,
  sendOnce,
  type Turn,
  t,
  unlessUnreachable,
  z,
} from '@cinnabar/sdk';
import type { Message, SendableChannels } from 'discord.js';
import type { AiContext } from './context.js';

/** The notices on Discord, by the message that they reply to. Stored before they are sent, so that the next process finds those of a killed one. */
export const collections = {
  stillWorking: {
    scope: 'global',
    version: 1,
    schema: z.object({
      /** The guild of the channel, whose host removes notices that were left. */
      guildId: z.string().nullable().default(null),
      channelId: z.string(),
      content: z.string(),
      /** The id of the notice; missing until Discord has confirmed it. */
      wordId: z.string().optional(),
    }),
  },
} as const;

const SEARCHED_MESSAGES = 100;

export type StillWorking = ReturnType<typeof createStillWorking>;

/** Sends and removes notices that an answer takes a while. */
export function createStillWorking({ collections, client, services: { clock }, log, signal }: AiContext) {
  const notices = collections.stillWorking;
  const failed = (error: unknown) => {
    log.debug('the notice that an answer takes its time could not be sent or deleted', { error });
    return undefined;
  };

  const say = async (turn: Turn, message: Message, deadlineSeconds: number): Promise<Message | undefined> => {
    const { channel } = turn;
    if (isAnswered(turn, message)) return undefined;
    const content = asNotice(
      t('-# I am still working on this. I give up after {deadlineSeconds} s.', { deadlineSeconds }),
    );
    const record = notices.of(message.id);
    const place = { guildId: message.guildId, channelId: channel.id };
    await record.set({ ...place, content });
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
    await record.set({ ...place, content, wordId: word.id }).catch(failed);
    return word;
  };

  const remove = async (askedId: string, channel: SendableChannels | undefined, wordId: string | undefined) => {
    if (channel !== undefined && wordId !== undefined) await unlessUnreachable(channel.messages.delete(wordId));
    await notices.of(askedId).delete();
  };

  const removeStored = async (
    askedId: string,
    left: { channelId: string; content: string; wordId?: string | undefined },
  ) => {
    const channel = await unlessUnreachable(client.channels.fetch(left.channelId));
    const place = channel?.isSendable() === true ? channel : undefined;
    const wordId = left.wordId ?? (place && (await findNotice(place, askedId, left.content)));
    await remove(askedId, place, wordId);
  };

  return {
    /**
     * Sends the notice once, unless a part of the answer is visible by then, and deletes it when the answer was sent. Slash commands, which show that they are
     * busy, and turns that were not requested have no notice.
     * @param afterSeconds 0: never
     * @returns a function that ends the watch
     */
    watch(turn: Turn, afterSeconds: number, deadlineSeconds: number): () => Promise<void> {
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
        const removal = () => remove(message.id, channel, word.id);
        // Retries are not awaited, because a failure of Discord must not delay the answer.
        await removal().catch(() => void retryDiscord(clock, removal, { signal }).catch(failed));
      };
    },
    /** Deletes the notices that an earlier process left. Never rejects. */
    async removeLeft(): Promise<void> {
      try {
        for await (const [askedId, left] of notices.entries())
          await retryDiscord(clock, () => removeStored(askedId, left), { signal }).catch(failed);
      } catch (error) {
        failed(error);
      }
    },
  };
}

/** Whether a part of the answer was sent: a reply of the bot to the message. Where the bot cannot reply, any later message of the bot counts. */
function isAnswered({ channel, earlier }: Turn, message: Message): boolean {
  const asked = new Set([message.id, ...earlier.flatMap((turn) => turn.message?.id ?? [])]);
  const refers = mayRefer(channel);
  return channel.messages.cache.some(
    (one) =>
      isOwnMessage(one) &&
      // A webhook's message cannot be a reply, either.
      (refers && one.author.id === channel.client.user.id
        ? asked.has(one.reference?.messageId ?? '')
        : compareIds(one.id, message.id) > 0),
  );
}

/** Finds a notice whose sending Discord has not confirmed. */
async function findNotice(channel: SendableChannels, askedId: string, content: string): Promise<string | undefined> {
  const since = await channel.messages.fetch({ after: askedId, limit: SEARCHED_MESSAGES, cache: false });
  return since.find(
    (one) =>
      one.author.id === channel.client.user.id &&
      one.content === content &&
      (one.reference === null || one.reference.messageId === askedId),
  )?.id;
}
