import { mayRefer, type TextMessage, type Turn } from '@cinnabar/sdk';
import type { Message } from 'discord.js';
import { type BackoffOptions, withDiscordBackoff } from '../../history/discord-backoff.js';

export type Backoff = BackoffOptions;

/**
 * Builds what sends the messages of one answer. Each carries a nonce of its own that Discord enforces: a request that is repeated, because
 * nobody knows what became of it, makes no second message.
 */
export function messageSender(
  turn: Turn,
  asked: Message,
  backoff: Backoff,
  pinged: (content: string) => readonly string[],
): (message: TextMessage) => Promise<Message> {
  const { channel, trigger } = turn;
  // What merely goes on replies to nobody, and its command is taken away.
  let replied = trigger === 'activate' || trigger === 'continue' || !mayRefer(channel);
  let serial = 0;
  return ({ content, files = [] }) => {
    const reply = replied ? {} : { reply: { messageReference: asked, failIfNotExists: false } };
    replied = true;
    serial += 1;
    const allowedMentions = { parse: [], users: pinged(content), repliedUser: true };
    const nonce = `${asked.id.slice(-19)}.${serial}`;
    return withDiscordBackoff(
      async (): Promise<Message> =>
        channel.send({ content, files, allowedMentions, nonce, enforceNonce: true, ...reply }),
      backoff,
    );
  };
}
