import {
  type Actor,
  idBefore,
  isRefusal,
  isUnreachable,
  mayRefer,
  noticeLine,
  noticeMessages,
  type SendOnceOptions,
  sendOnce,
  TEXT_LIMITS,
  textMessages,
  unlessUnreachable,
} from '@cinnabar/sdk';
import {
  type Client,
  type MessageEditOptions,
  type PermissionsString,
  RESTJSONErrorCodes,
  type SendableChannels,
} from 'discord.js';
import { choiceOf } from './controls.js';
import { type Ending, ended, type Verdict } from './render.js';

/** The answer to a call, and whether it is for its requester alone. */
export interface Answer {
  readonly text: string;
  readonly audience?: 'requester' | undefined;
  /** The program's own words, not what a tool returned: for members, and for no model, which has the outcome of its call. */
  readonly notice?: true | undefined;
}

interface Parts extends SendOnceOptions {
  readonly client: Client;
}

const GIVEN = '✓ Done. What it returned is in your direct messages.';
const NOT_TAKEN =
  '✓ Done, but what it returned is not for this channel, and you accept no direct messages from me. Allow them and ask again, or choose to have it posted here.';

/** Tells a member what became of their call, with their name, as a reply to its card where it had one: where they asked, or in a direct message what is for them alone. */
export async function give(
  { client, ...options }: Parts,
  channel: SendableChannels,
  { callId, userId }: { readonly callId: string; readonly userId: string },
  { text, audience, notice }: Answer,
  replyTo?: string,
): Promise<void> {
  if (channel.isDMBased()) return say(channel, callId, text, { ...options, replyTo, notice });
  // Several members may have asked for the same thing; Discord's reply names the bot, whose card it is.
  const foot = `\n${noticeLine(`-# for <@${userId}>`)}`;
  const post = (words: string) => say(channel, callId, words, { ...options, replyTo, foot, notice });
  if (audience === undefined) return post(text);
  const taken = await toPerson().then(
    () => true,
    (error: unknown) => {
      if (isRefusal(error)) return false;
      throw error;
    },
  );
  await post(taken ? GIVEN : NOT_TAKEN);

  async function toPerson(): Promise<void> {
    const direct = await client.users.createDM(userId);
    // A key of its own: Discord takes a nonce for the same message in whatever channel.
    await say(direct, `${callId}:alone`, text, options);
  }
}

/** Whoever is named in a card or an answer is not pinged by it. */
export const NO_PINGS = { parse: [], repliedUser: false } as const;

/** A tool may answer with a whole document: more messages than this would bury the conversation. */
const MOST_MESSAGES = 3;

interface SayOptions extends SendOnceOptions {
  /** The card that it answers: said long after it, the member must see which one is meant. */
  readonly replyTo?: string | undefined;
  /** A line below it, also where the text becomes a file. */
  readonly foot?: string;
  /** See `Answer`. */
  readonly notice?: true | undefined;
}

/** Sends the answer to a call once, as one message or several; a very long one as a file. */
async function say(
  channel: SendableChannels,
  callId: string,
  text: string,
  { replyTo, foot = '', notice, ...options }: SayOptions,
): Promise<void> {
  const limits = { ...TEXT_LIMITS, messages: MOST_MESSAGES };
  const split = notice === true ? noticeMessages : textMessages;
  for (const [index, part] of split(text, { limits, foot }).entries()) {
    const reply =
      index === 0 && replyTo !== undefined && mayRefer(channel)
        ? { reply: { messageReference: replyTo, failIfNotExists: false } }
        : {};
    const message = { ...part, ...reply, allowedMentions: NO_PINGS };
    await sendOnce(channel, message, `confirm:${callId}:${index}`, options);
  }
}

interface PostedCard {
  readonly channelId: string;
  readonly messageId: string;
  readonly content: string;
}

/** Shows on a card how it ended, and takes its buttons away. */
export function endCard(client: Client, card: PostedCard, ending: Ending, verdict?: Verdict): Promise<void> {
  return changeCard(client, card, { content: ended(card.content, ending, verdict), components: [] });
}

/** Edits a card. One that is gone needs nothing any more. */
export async function changeCard(
  client: Client,
  { channelId, messageId }: Pick<PostedCard, 'channelId' | 'messageId'>,
  change: Pick<MessageEditOptions, 'content' | 'components'>,
): Promise<void> {
  const channel = await channelOf(client, channelId);
  if (channel !== undefined)
    await unlessUnreachable(channel.messages.edit(messageId, { ...change, allowedMentions: NO_PINGS }));
}

/** What a member has pressed on a card, as Discord says: for when its event may not have come. 👎 goes before 👍. */
export async function pressedBy(
  channel: SendableChannels,
  messageId: string,
  userId: string,
): Promise<'approve' | 'refuse' | undefined> {
  try {
    const message = await channel.messages.fetch({ message: messageId, force: true });
    // Users are listed by id, from the one after `after` on.
    const after = idBefore(userId);
    for (const choice of ['refuse', 'approve'] as const) {
      const reactions = message.reactions.cache.filter(({ emoji }) => choiceOf(emoji) === choice);
      for (const reaction of reactions.values()) {
        if ((await reaction.users.fetch({ limit: 1, after })).has(userId)) return choice;
      }
    }
  } catch (error) {
    if (!isUnreachable(error)) throw error;
  }
  return undefined;
}

/** Where a card goes, or the permission that is missing for it. */
export type Place =
  | { readonly channel: SendableChannels; missing(...wanted: readonly PermissionsString[]): PermissionsString[] }
  | { readonly blockedBy: PermissionsString };

/** In a direct message nothing is ever missing. */
export async function placeOf(client: Client, { channelId }: Pick<Actor, 'channelId'>): Promise<Place> {
  const channel = await channelOf(client, channelId);
  if (channel === undefined) return { blockedBy: 'ViewChannel' };
  const own = channel.isDMBased() || client.user === null ? undefined : channel.permissionsFor(client.user);
  const missing = (...wanted: readonly PermissionsString[]) =>
    own === undefined ? [] : wanted.filter((permission) => own?.has(permission) !== true);
  const [blockedBy] = missing('ViewChannel', channel.isThread() ? 'SendMessagesInThreads' : 'SendMessages');
  return blockedBy === undefined ? { channel, missing } : { blockedBy };
}

/** `undefined` for one that is gone, hidden, or not for messages. */
export async function channelOf(client: Client, channelId: string): Promise<SendableChannels | undefined> {
  const channel = await unlessUnreachable(client.channels.fetch(channelId));
  return channel?.isSendable() === true ? channel : undefined;
}

/** What a refusal to post says is missing; the cache may be behind what Discord knows. */
export function missingPermission(error: unknown): PermissionsString | undefined {
  const code = isRefusal(error) ? error.code : undefined;
  const { MissingAccess, MissingPermissions, UnknownChannel } = RESTJSONErrorCodes;
  if (code === MissingAccess || code === UnknownChannel) return 'ViewChannel';
  return code === MissingPermissions ? 'SendMessages' : undefined;
}
