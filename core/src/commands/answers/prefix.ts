import { type Message, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import type { Answers } from './answers.js';
import { partsOf } from './body.js';
import type { LostAnswers } from './lost.js';

/** Answers to a message: the first replies to it (unless it is gone by then), the others follow in the channel. */
export function answerMessage(message: Message, channel: SendableChannels, lost: LostAnswers): Answers {
  let answered = false;
  let serial = 0;

  const send = async (part: ReturnType<typeof partsOf>[number]) => {
    const reference =
      answered || !mayRefer(channel) ? {} : { reply: { messageReference: message, failIfNotExists: false } };
    serial += 1;
    // discord.js repeats a request that failed on the way back: with a nonce, Discord makes no second message of it.
    const once = { nonce: `${message.id.slice(-19)}c${serial}`, enforceNonce: true };
    const sent = await lost.attempt<Message>(channel.id, () => channel.send({ ...part, ...reference, ...once }));
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
      await lost.attempt(channel.id, () => channel.sendTyping());
    },
    async refuse(sentence) {
      await answers.reply(sentence);
    },
    finish: () => undefined,
    close: () => undefined,
  };
  return answers;
}

/** Discord lets one refer only to what one may read: without that, the answer stands by itself. */
function mayRefer(channel: SendableChannels): boolean {
  const me = channel.isDMBased() ? null : channel.guild.members.me;
  if (channel.isDMBased() || me === null) return true;
  return channel.permissionsFor(me).has(PermissionFlagsBits.ReadMessageHistory);
}
