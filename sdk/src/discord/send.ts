import { createHash } from 'node:crypto';
import type { Client, Guild, Message, MessageCreateOptions, MessageMentionOptions, SendableChannels } from 'discord.js';
import { onAbort, sleep } from '../async/waiting.js';
import type { Clock } from '../clock.js';
import type { Logger } from '../observability.js';
import { currentLocale, t } from '../text/language.js';
import { splitMessage } from '../text/split.js';
import { isTransient, type RetryOptions, retryDiscord, unlessUnreachable } from './errors.js';
import { asNotice, asUnfinishedPart, LONGEST_MARK, withoutNoticeMark } from './messages.js';
import { sendByWebhook } from './webhooks.js';

/** Discord's maximum length of a message. */
const MESSAGE_LIMIT = 2_000;

/** Maximum length of a text that becomes messages: a longer one becomes a file. */
export interface TextLimits {
  readonly messages: number;
  readonly characters: number;
}
/** The defaults. */
export const TEXT_LIMITS: TextLimits = { messages: 8, characters: 12_000 };

/** One message of a text. */
export interface TextMessage {
  readonly content: string;
  readonly files?: { readonly name: string; readonly attachment: Buffer }[];
}

export interface TextOptions {
  readonly limits?: TextLimits;
  /** Maximum length of a message, 2,000 by default. */
  readonly partLimit?: number;
  /** Placed before the text, and kept in the message when the text becomes a file: a mention, a heading. A line or two. */
  readonly head?: string;
  /** The same after the text. */
  readonly foot?: string;
}

/**
 * The messages of a text: split without breaking code fences, or, beyond the limits, one message with a sentence and the whole text as a file. None for an
 * empty text.
 * @example for (const message of textMessages(answer)) await channel.send(message);
 */
export function textMessages(
  text: string,
  { limits = TEXT_LIMITS, partLimit = MESSAGE_LIMIT, head = '', foot = '' }: TextOptions = {},
): readonly TextMessage[] {
  if (text.length > limits.characters) return [asFile(text, head, foot)];
  const parts = splitMessage(`${head}${text}${foot}`, partLimit);
  return parts.length > limits.messages ? [asFile(text, head, foot)] : parts.map((content) => ({ content }));
}

/** The messages of a notice, split as in `textMessages`; each is marked as a notice. */
export function noticeMessages(text: string, options: TextOptions = {}): readonly TextMessage[] {
  const partLimit = (options.partLimit ?? MESSAGE_LIMIT) - LONGEST_MARK;
  return textMessages(text, { ...options, partLimit }).map((part) => ({ ...part, content: asNotice(part.content) }));
}

/**
 * The messages of one answer of a responder, split as in `textMessages`. All but the last are marked as unfinished parts: other bots and a history treat them
 * as one message.
 */
export function answerMessages(text: string, options: TextOptions = {}): readonly TextMessage[] {
  const partLimit = (options.partLimit ?? MESSAGE_LIMIT) - LONGEST_MARK;
  const parts = textMessages(withoutNoticeMark(text), { ...options, partLimit });
  return parts.map((part, index) =>
    index === parts.length - 1 ? part : { ...part, content: asUnfinishedPart(part.content) },
  );
}

function asFile(text: string, head: string, foot: string): TextMessage {
  const file = textFile('answer.txt', text);
  const length = text.length.toLocaleString(currentLocale());
  const note =
    file.attachment.length < Buffer.byteLength(text)
      ? t('This is too long for messages ({length} characters): its beginning is in the file.', { length })
      : t('This is too long for messages ({length} characters): all of it is in the file.', { length });
  return { content: `${head}${note}${foot}`, files: [file] };
}

/** Well below Discord's maximum size of a file. */
const FILE_BYTES = 8_000_000;

/** A text as a file of a message: only its beginning when it is too large for Discord. */
export function textFile(name: string, text: string): { readonly name: string; readonly attachment: Buffer } {
  return { name, attachment: Buffer.from(text).subarray(0, FILE_BYTES) };
}

/** One message of a text; `textMessages` and `answerMessages` split a text into them. */
export type TextPart = Pick<MessageCreateOptions, 'content' | 'files' | 'embeds' | 'components' | 'flags'>;

export interface SendTextOptions extends SendOnceOptions {
  /** The id of the message that the first part replies to. If that message is deleted, the part is sent without a reply. */
  readonly replyTo?: string | undefined;
  /** No one is pinged by default. */
  readonly allowedMentions?: MessageMentionOptions | undefined;
  /** The name and picture to send under; by default those of the bot. */
  readonly profile?: Profile | undefined;
  /** Called with each part that was sent, also with those before one that fails. */
  readonly onSent?: (message: Message) => void;
}

/**
 * Sends the parts of a text in their order, each once (`sendOnce`).
 * @param key names the text among all that the bot sends: the same key is the same text
 * @throws what a part failed with; the reason of `signal` when it aborts before a part
 * @example await sendText(channel, textMessages(answer), `${turn.id}:answer`, { clock, signal, replyTo: message.id });
 */
export async function sendText(
  channel: SendableChannels,
  parts: readonly TextPart[],
  key: string,
  { replyTo, allowedMentions = { parse: [], repliedUser: false }, profile, onSent, ...once }: SendTextOptions,
): Promise<readonly Message[]> {
  const sent: Message[] = [];
  for (const [index, part] of parts.entries()) {
    once.signal?.throwIfAborted();
    const isReply = index === 0 && replyTo !== undefined;
    const reply = isReply ? { reply: { messageReference: replyTo, failIfNotExists: false } } : {};
    const message = { ...part, allowedMentions, ...reply };
    const partKey = `${key}:${index}`;
    // Requires the position after the previous parts, since an earlier part may have the same text.
    const options = {
      ...once,
      sentAfter: once.sentAfter === undefined ? undefined : (sent.at(-1)?.id ?? once.sentAfter),
    };
    const posted =
      profile === undefined
        ? await sendOnce(channel, message, partKey, options)
        : await sendAs(channel, message, partKey, { ...options, profile });
    sent.push(posted);
    onSent?.(posted);
  }
  return sent;
}

/** Whether the bot's messages may be replies there. Discord allows replies only to messages that the sender may read: otherwise an answer is not a reply. */
export function mayRefer(channel: SendableChannels): boolean {
  const me = channel.isDMBased() ? null : channel.guild.members.me;
  if (channel.isDMBased() || me === null) return true;
  return channel.permissionsFor(me).has('ReadMessageHistory');
}

/** Discord's limit for a nonce. */
const NONCE_LENGTH = 25;
/** Discord remembers nonces for "the past few minutes" (https://discord.com/developers/docs/resources/message#create-message). */
const NONCE_KEPT_MS = 120_000;
/** Number of messages in the channel that are searched for one that may have been sent. */
const LOOKED_THROUGH = 100;

export interface SendOnceOptions extends RetryOptions {
  readonly clock: Clock;
  /**
   * For a message that an earlier process may have sent: it is looked for among the bot's messages after this one before anything is sent.
   * Without it, only what this call itself may have sent is looked for.
   */
  readonly sentAfter?: string | undefined;
  /** The content of the earlier attempt, if it is not that of the message. */
  readonly sentAs?: string | undefined;
}

/** Makes Discord recognise a request that is repeated under the same key. */
export function nonceOf(...key: readonly (string | number)[]): { readonly nonce: string; readonly enforceNonce: true } {
  const nonce = createHash('sha256').update(key.join('\n')).digest('base64url').slice(0, NONCE_LENGTH);
  return { nonce, enforceNonce: true };
}

/**
 * Sends a message exactly once even when requests fail. They carry a nonce made of `key` and are retried when Discord or the network failed. Before it gives
 * up, and when Discord may have forgotten the nonce, the channel is searched for the message.
 * @param key names the message among all that the bot sends: the same key is the same message
 * @throws Discord's refusal; the last error when the message was not sent
 * @example await sendOnce(channel, { content: 'Done.' }, `${callId}:result`, { clock, signal });
 */
export async function sendOnce(
  channel: SendableChannels,
  message: MessageCreateOptions,
  key: string,
  { clock, sentAfter, sentAs, ...retry }: SendOnceOptions,
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
    return (attempts === 1 ? undefined : await sentBefore()) ?? channel.send({ ...message, ...once });
  }

  /** The message, if an earlier attempt without a response has sent it. */
  async function sentBefore(): Promise<Message | undefined> {
    return clock.now() - firstAt >= NONCE_KEPT_MS ? look() : cachedCopy();
  }

  /** Finds the message by its nonce: the gateway delivers the nonces of the bot's own messages, the REST history does not. */
  function cachedCopy(): Message | undefined {
    return channel.messages.cache.find(({ nonce, author }) => nonce === once.nonce && isOwn(author.id));
  }

  async function look(): Promise<Message | undefined> {
    const known = cachedCopy();
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
    const repliesToId = typeof repliesTo === 'object' ? repliesTo.id : repliesTo;
    return (
      // Discord sends the message without a reference when the message that it replies to is deleted.
      (repliesToId === undefined || reference === null || reference.messageId === repliesToId) &&
      [message.content ?? '', sentAs].some((text) => content === text?.trim()) &&
      // Discord adds embeds for links.
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

/** The name and picture of a message. */
export interface Profile {
  readonly name: string;
  /** A picture at an `https:` address; without it, the webhook's own. */
  readonly avatarUrl?: string | undefined;
}

export interface SendAsOptions extends SendOnceOptions {
  readonly profile: Profile;
}

/**
 * Sends a message under a name and a picture (`sendByWebhook`), or as an ordinary message when that is not possible; once, as `sendOnce` does.
 * @param key names the message among all that the bot sends: the same key is the same message
 * @throws Discord's refusal; the last error when the message was not sent
 * @example await sendAs(channel, { content: 'Morning.' }, `${runId}:0`, { clock, profile: { name: 'Aurora' } });
 */
export async function sendAs(
  channel: SendableChannels,
  message: MessageCreateOptions,
  key: string,
  { profile, ...once }: SendAsOptions,
): Promise<Message> {
  const said = await sendByWebhook(channel, message, key, { profile, ...once });
  return said ?? sendOnce(channel, message, key, once);
}

/** Discord shows the indicator for 10 s. */
const REFRESH_MS = 8_000;

type Typable = Pick<SendableChannels, 'sendTyping'>;

export interface KeepTypingOptions {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'debug'>;
  /** Ends it, as the returned function does. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Shows the typing indicator until the returned function is called, which resolves once no request is pending: an indicator that arrives after the message
 * would stay for 10 s. A channel that is gone, or in which the bot cannot type, is only logged.
 * @param channel a function is called before each request
 */
export function keepTyping(
  channel: Typable | (() => Promise<Typable | undefined>),
  { clock, log, signal }: KeepTypingOptions,
): () => Promise<void> {
  const ended = new AbortController();
  const end = () => ended.abort();
  const release = onAbort(signal, end);
  const find = typeof channel === 'function' ? channel : async () => channel;
  const type = async () => {
    try {
      const found = await find();
      if (!ended.signal.aborted) await found?.sendTyping();
    } catch (error) {
      log.debug('typing was not shown', { error });
    }
  };
  const typing = (async () => {
    while (!ended.signal.aborted) {
      await type();
      await sleep(clock, REFRESH_MS, ended.signal);
    }
  })();
  return () => {
    release();
    end();
    return typing;
  };
}

/** The channel, fetched from Discord when it is not cached; `undefined` when it was deleted, is hidden from the bot, or has no messages. */
export async function findSendable(client: Client, channelId: string): Promise<SendableChannels | undefined> {
  const channel = await unlessUnreachable(client.channels.fetch(channelId));
  return channel?.isSendable() === true ? channel : undefined;
}

/**
 * A channel that a guild's admins have chosen for messages, if it belongs to that guild: an id alone may belong to another one.
 * Like `findSendable` otherwise.
 */
export async function findSendableIn(
  client: Client,
  guildId: string,
  channelId: string,
): Promise<SendableChannels | undefined> {
  const channel = await findSendable(client, channelId);
  return channel === undefined || channel.isDMBased() || channel.guildId !== guildId ? undefined : channel;
}

/** Why the bot cannot write in a channel of a guild, as a sentence; `undefined` when it can. */
export async function sendingObstacle(guild: Guild, channelId: string): Promise<string | undefined> {
  const channel = await findSendable(guild.client, channelId);
  if (channel === undefined || channel.isDMBased() || channel.guildId !== guild.id)
    return t('That channel is gone, or nothing can be written in it.');
  const me = guild.members.me;
  const may = me === null || channel.permissionsFor(me).has(['ViewChannel', 'SendMessages']);
  return may ? undefined : t('I may not write in that channel.');
}
