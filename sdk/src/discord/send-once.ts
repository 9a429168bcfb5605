import { createHash } from 'node:crypto';
import type { Message, MessageCreateOptions, SendableChannels } from 'discord.js';
import type { Clock } from '../clock.js';
import { isTransient } from './errors.js';
import { type RetryOptions, retryDiscord } from './retry.js';

/** Discord's limit for a nonce. */
const NONCE_LENGTH = 25;
/** Discord remembers nonces for "the past few minutes" (https://discord.com/developers/docs/resources/message#create-message). */
const NONCE_KEPT_MS = 120_000;
const LOOKED_THROUGH = 100;

export interface SendOnceOptions extends RetryOptions {
  readonly clock: Clock;
  /**
   * For a message that an earlier process may have sent: it is looked for among the bot's messages after this one before anything is sent.
   * Without it, only what this call itself may have sent is looked for.
   */
  readonly sentAfter?: string | undefined;
}

/** Makes Discord take a request that is repeated under the same key for the one that it has carried out already. */
export function nonceOf(...key: readonly (string | number)[]): { readonly nonce: string; readonly enforceNonce: true } {
  const nonce = createHash('sha256').update(key.join('\n')).digest('base64url').slice(0, NONCE_LENGTH);
  return { nonce, enforceNonce: true };
}

/**
 * Sends a message that is to be there once, whatever becomes of the requests: they carry a nonce made of `key`, are repeated when Discord or
 * the network failed, and before it gives up, and where Discord may have forgotten the nonce, the message is looked for in the channel.
 * @param key names the message among all that the bot sends: the same key is the same message
 * @throws what Discord refused it with; what failed last when it is not there
 * @example await sendOnce(channel, { content: 'Done.' }, `${callId}:result`, { clock, signal });
 */
export async function sendOnce(
  channel: SendableChannels,
  message: MessageCreateOptions,
  key: string,
  { clock, sentAfter, ...retry }: SendOnceOptions,
): Promise<Message> {
  const once = nonceOf(key);
  const after = sentAfter ?? channel.lastMessageId ?? undefined;
  const firstAt = clock.now();
  let attempts = 0;
  const found = sentAfter === undefined ? undefined : await retryDiscord(clock, look, retry);
  if (found !== undefined) return found;
  try {
    return await retryDiscord(clock, attempt, retry);
  } catch (error) {
    const sent = isTransient(error) ? await look().catch(() => undefined) : undefined;
    if (sent === undefined) throw error;
    return sent;
  }

  async function attempt(): Promise<Message> {
    attempts += 1;
    const sent = attempts > 1 && clock.now() - firstAt >= NONCE_KEPT_MS ? await look() : heard();
    return sent ?? channel.send({ ...message, ...once });
  }

  /** The gateway tells the nonces of the bot's own messages; a history read by REST does not. */
  function heard(): Message | undefined {
    return channel.messages.cache.find(({ nonce, author }) => nonce === once.nonce && isOwn(author.id));
  }

  async function look(): Promise<Message | undefined> {
    const known = heard();
    if (known !== undefined) return known;
    const since = await channel.messages.fetch({
      limit: LOOKED_THROUGH,
      cache: false,
      ...(after === undefined ? {} : { after }),
    });
    return since.find((one) => isOwn(one.author.id) && saysTheSame(one) && !isOfAnotherKey(one.id));
  }

  function saysTheSame({ content, embeds, attachments, reference }: Message): boolean {
    const repliesTo = message.reply?.messageReference;
    return (
      (typeof repliesTo !== 'string' || reference === null || reference.messageId === repliesTo) &&
      content === (message.content ?? '').trim() &&
      // Discord adds embeds of its own for links.
      embeds.length >= (message.embeds?.length ?? 0) &&
      attachments.size === (message.files?.length ?? 0)
    );
  }

  function isOfAnotherKey(id: string): boolean {
    const nonce = channel.messages.cache.get(id)?.nonce;
    return nonce !== undefined && nonce !== null && nonce !== once.nonce;
  }

  function isOwn(authorId: string): boolean {
    return authorId === channel.client.user.id;
  }
}
