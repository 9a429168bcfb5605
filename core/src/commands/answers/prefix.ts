import { type Clock, doublingPauses, isTransient, mayRefer, sendOnce } from '@cinnabar/sdk';
import type { Message, SendableChannels } from 'discord.js';
import { type Answers, partsOf } from './answers.js';
import type { LostAnswers } from './slash.js';

/** For ten minutes: the answer to a command is worth having after an outage, too. */
export const ANSWER_PAUSES_MS = doublingPauses(1_000, 30_000, 600_000);

interface Parts {
  readonly clock: Clock;
  readonly lost: LostAnswers;
  /** Aborts when the command's plugin stops: nothing is tried again then. */
  readonly signal: AbortSignal;
}

/** Answers to a message: the first replies to it (unless it is gone by then), the others follow in the channel. */
export function answerMessage(message: Message, channel: SendableChannels, { clock, lost, signal }: Parts): Answers {
  let answered = false;
  let serial = 0;

  const send = async (part: ReturnType<typeof partsOf>[number]) => {
    const reference =
      answered || !mayRefer(channel) ? {} : { reply: { messageReference: message, failIfNotExists: false } };
    serial += 1;
    const key = `command:${message.id}:${serial}`;
    const retry = { clock, signal, pausesMs: ANSWER_PAUSES_MS };
    const sent = await lost.attempt<Message>(channel.id, () =>
      sendOnce(channel, { ...part, ...reference }, key, retry),
    );
    answered = true;
    return sent;
  };

  const answers: Answers = {
    async reply(reply) {
      const [first, ...others] = partsOf(reply, message.author.id);
      let last = await send(first);
      for (const part of others) last = await send(part);
      return last;
    },
    async defer() {
      await lost.attempt(channel.id, () =>
        channel.sendTyping().catch((error: unknown) => {
          // Only shows that the bot is at work: no reason not to be.
          if (!isTransient(error)) throw error;
        }),
      );
    },
    async refuse(sentence) {
      await answers.reply({ content: sentence, notice: true });
    },
    finish: () => undefined,
    close: () => undefined,
  };
  return answers;
}
