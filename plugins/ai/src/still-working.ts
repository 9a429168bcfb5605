import { type Clock, type Logger, mayRefer, sendOnce, type Turn } from '@cinnabar/sdk';
import type { Message } from 'discord.js';

/**
 * Says once that an answer takes its time, unless something of it can be seen by then, and takes that back when it is there. A slash command
 * shows it by itself, and who has not asked waits for nothing.
 * @param afterSeconds 0 for never
 * @returns ends it
 */
export function sayStillWorking(
  turn: Turn,
  afterSeconds: number,
  deadlineSeconds: number,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): () => Promise<void> {
  const { channel, message, trigger } = turn;
  const isAwaited = message !== null && trigger !== 'random' && trigger !== 'name';
  if (!isAwaited || afterSeconds === 0 || afterSeconds >= deadlineSeconds) return async () => undefined;
  let said: Promise<Message | undefined> | undefined;
  const say = async () => {
    const botId = channel.client.user.id;
    const isAnswer = ({ id, author }: Message) => author.id === botId && BigInt(id) > BigInt(message.id);
    if (channel.messages.cache.some(isAnswer)) return undefined;
    return sendOnce(
      channel,
      {
        content: `-# I am still working on this. I give up after ${deadlineSeconds} s.`,
        allowedMentions: { parse: [] },
        ...(mayRefer(channel) ? { reply: { messageReference: message, failIfNotExists: false } } : {}),
      },
      `${turn.id}:still-working`,
      { clock, signal: turn.signal },
    );
  };
  const failed = (error: unknown) => {
    log.debug('it could not be said that an answer takes its time', { turnId: turn.id, error });
    return undefined;
  };
  const cancel = clock.after(afterSeconds * 1_000, () => {
    said = say().catch(failed);
  });
  return async () => {
    cancel();
    await (await said)?.delete().catch(failed);
  };
}
