import {
  type Actor,
  type Collection,
  createdAt,
  type MessageOriginSource,
  type Profile,
  refusalSentence,
  sendAs,
  sendOnce,
  sentenceOf,
  splitMessage,
  spokenForMark,
  t,
  UserError,
  unlessUnreachable,
  z,
} from '@cinnabar/sdk';
import {
  type Channel,
  ChannelType,
  type GuildBasedChannel,
  type Message,
  MessageFlags,
  type MessageMentionOptions,
  type PartialGroupDMChannel,
  type SendableChannels,
} from 'discord.js';
import { readMessage } from './arguments.js';
import type { Call } from './discord-tool.js';
import { placeOf } from './places.js';
import { demand, may, requireUnlocked } from './rights.js';
import type { Caller, Context } from './settings.js';

type TextChannel = Exclude<SendableChannels, PartialGroupDMChannel>;

interface Posted {
  readonly channelId: string;
  /** The ids of all sent messages, in order: a long text becomes several. */
  readonly messageIds: readonly string[];
}

/**
 * Sends a text as one or several messages, under the agent's own name if it has one. Pings the author of the message that it replies to, if the author can see
 * it.
 */
export async function post(
  context: Context,
  call: Call,
  channel: TextChannel,
  text: string,
  replyTo?: Message,
): Promise<Posted> {
  const guildId = channel.isDMBased() ? null : channel.guildId;
  const { identity } = call.actor;
  const contents = await messagesFor(context, call, guildId, text);
  await requireUnlocked(context, call, channel);
  await requirePause(context, call, channel);
  const { allowedMentions, ...options } = await messageOptions(context, call, channel, text);
  const repliedUser =
    replyTo !== undefined && (channel.isDMBased() || (await canSee(context, channel, replyTo.author.id)));
  const messageIds = await postParts(context, call, channel, {
    contents,
    options: { ...options, allowedMentions: { ...allowedMentions, repliedUser } },
    replyTo,
    profile: identity === undefined ? undefined : await context.identities.profile(identity, guildId),
  });
  return { channelId: channel.id, messageIds };
}

interface PostOptions {
  readonly contents: readonly string[];
  readonly options: MessageOptions;
  /** The message that the first of them replies to. */
  readonly replyTo?: Message | undefined;
  /** The name and picture of the sender; by default the bot's. */
  readonly profile?: Profile | undefined;
}

/** Sends texts one after another, and records for whom they were sent. @throws UserError as `sendInOrder` */
export async function postParts(
  context: Context,
  { actor, key, signal }: Call,
  channel: TextChannel,
  { contents, options, replyTo, profile }: PostOptions,
): Promise<readonly string[]> {
  const sent: string[] = [];
  try {
    await sendInOrder(contents, signal, sent, (content, index) => {
      const reply = index === 0 && replyTo !== undefined ? { reply: { messageReference: replyTo.id } } : {};
      const message = { content, ...reply, ...options };
      const once = { clock: context.clock, signal };
      return profile === undefined
        ? // No further retries, because the requester waits, and discord.js has retried already.
          sendOnce(channel, message, `${key}:${index}`, { ...once, pausesMs: [] })
        : sendAs(channel, message, `${key}:${index}`, { ...once, profile });
    });
  } finally {
    await context.sent.remember(channel.id, sent, actor);
  }
  return sent;
}

/**
 * @param sent receives the id of each message, also of those before a failed one
 * @throws UserError that names the sent messages when a later one fails
 */
export async function sendInOrder(
  contents: readonly string[],
  signal: AbortSignal,
  sent: string[],
  send: (content: string, index: number) => Promise<Pick<Message, 'id'>>,
): Promise<void> {
  try {
    for (const [index, content] of contents.entries()) {
      stopWhenCancelled(signal);
      sent.push((await send(content, index)).id);
    }
  } catch (error) {
    if (sent.length === 0) throw error;
    const why = refusalSentence(error) ?? sentenceOf(error) ?? t('Then it was interrupted.');
    throw new UserError(
      t('Only {sent} of {total} messages were sent ({ids}). {why}', {
        sent: sent.length,
        total: contents.length,
        ids: sent.join(', '),
        why,
      }),
      {
        cause: error,
      },
    );
  }
}

/** To be called before each step that changes or fetches something. @throws UserError after the call was cancelled */
export function stopWhenCancelled({ aborted }: AbortSignal): void {
  if (aborted) throw new UserError(t('It was cancelled on the way.'));
}

/** "message 123", "messages 123, 124". */
export function idsText({ messageIds }: Pick<Posted, 'messageIds'>): string {
  return t('{count, plural, one {message} other {messages}} {ids}', {
    count: messageIds.length,
    ids: messageIds.join(', '),
  });
}

const MESSAGE_LIMIT = 2000;

/**
 * The text as messages of valid length, with intact code fences, each with a line that names the member for whom it is sent: without the line, the member's
 * text would look like the bot's own.
 * @throws UserError for an empty text
 */
export async function messagesFor(
  context: Context,
  { actor }: Caller,
  guildId: string | null,
  text: string,
): Promise<readonly string[]> {
  const isMarked = actor.identity === undefined && (await context.settings(guildId).get()).mark === 'line';
  const mark = isMarked ? spokenForMark(actor.userId) : '';
  const contents = splitMessage(text, MESSAGE_LIMIT - mark.length);
  if (contents.length === 0) throw new UserError(t('There is nothing to send: the text is empty.'));
  return contents.map((content) => mark + content);
}

/** The message of the same channel to which a new one replies. @throws UserError */
export async function replyTarget(
  context: Context,
  caller: Caller,
  channel: TextChannel,
  message: string,
): Promise<Message> {
  const reference = readMessage(channel.id, message);
  // The message is outside of the place that the host decided about, so the refusal does not reveal whether it exists.
  if (reference.channel.channelId !== channel.id)
    throw new UserError(t('A reply has to be in the same channel as its message.'));
  await demand(context, caller, placeOf(channel), 'ReadMessageHistory');
  const found = await unlessUnreachable(channel.messages.fetch({ message: reference.messageId, force: true }));
  if (found === undefined) throw new UserError(t('The message to reply to is not in this channel.'));
  return found;
}

/** Each of these permissions lifts slow mode: https://support.discord.com/hc/en-us/articles/360016150952 */
const EXEMPT = ['ManageMessages', 'ManageChannels'] as const;

/** Enforces slow mode for the requester, because the bot bypasses it. @throws UserError with the time to wait */
async function requirePause(context: Context, caller: Caller, channel: Channel): Promise<void> {
  const seconds = 'rateLimitPerUser' in channel ? (channel.rateLimitPerUser ?? 0) : 0;
  if (seconds === 0) return;
  const latest = await context.sent.latestFor(channel.id, caller.actor);
  if (latest === undefined) return;
  const leftMs = createdAt(latest) + seconds * 1000 - context.clock.now();
  if (leftMs <= 0) return;
  for (const permission of EXEMPT) if (await may(context, caller, placeOf(channel), [permission])) return;
  throw new UserError(
    t('The channel is in slow mode; please wait {seconds} seconds.', { seconds: Math.ceil(leftMs / 1000) }),
  );
}

/** Number of recorded messages of a channel. */
const KEPT = 500;

/** Without `userId` after the member's data was deleted: the text is still not the bot's own. */
const entry = z.object({ id: z.string(), userId: z.string().optional(), identity: z.string().optional() });
const schema = z.object({ messages: z.array(entry).default([]) });

/** By channel, oldest first: messages that were sent with these tools, and the members for whom. */
export const sentCollection = {
  scope: 'channel',
  schema,
  version: 1,
  personal: {
    each: 'messages',
    by: 'userId',
    forget(sent: z.output<typeof entry>) {
      delete sent.userId;
      delete sent.identity;
    },
  },
} as const;

type SentCollection = Collection<z.output<typeof schema>, 'channel'>;

/** The members for whom messages were sent. The bot is the author of all of them, and only those members may change them. */
export interface SentMessages {
  remember(channelId: string, ids: readonly string[], actor: Actor): Promise<void>;
  /** `own`: sent for the same person through the same agent. */
  whose(channelId: string, id: string, actor: Actor): Promise<'own' | 'others' | 'unknown'>;
  /** The id of the latest message that was sent for a person there, through any agent. */
  latestFor(channelId: string, person: Pick<Actor, 'userId'>): Promise<string | undefined>;
  /** The origins of messages that were not sent for an agent. An agent's text is its own. */
  readonly originsOf: MessageOriginSource;
  forgetChannel(channelId: string): Promise<void>;
}

export function createSentMessages(documents: SentCollection): SentMessages {
  return {
    async remember(channelId, ids, { userId, identity }) {
      if (ids.length === 0) return;
      const added = ids.map((id) => ({ id, userId, ...(identity === undefined ? {} : { identity }) }));
      await documents.of(channelId).update((draft) => {
        // An edited message belongs to the member who edited it. It keeps its position, because slow mode uses the latest message.
        const byId = new Map([...draft.messages, ...added].map((message) => [message.id, message]));
        draft.messages = [...byId.values()].slice(-KEPT);
      });
    },
    async whose(channelId, id, { userId, identity }) {
      const found = (await documents.of(channelId).find())?.messages.find((message) => message.id === id);
      if (found === undefined) return 'unknown';
      return found.userId === userId && found.identity === identity ? 'own' : 'others';
    },
    async latestFor(channelId, { userId }) {
      return (await documents.of(channelId).find())?.messages.findLast((message) => message.userId === userId)?.id;
    },
    async originsOf(channelId, messageIds) {
      const wanted = new Set(messageIds);
      const messages = (await documents.of(channelId).find())?.messages ?? [];
      return new Map(
        messages
          .filter(({ id, identity }) => identity === undefined && wanted.has(id))
          .map(({ id, userId }) => [id, { kind: 'sent-for', userId }] as const),
      );
    },
    forgetChannel: (channelId) => documents.of(channelId).delete(),
  };
}

/** Options with which a text pings and shows no more than if the requester had sent it. */
interface MessageOptions {
  readonly allowedMentions: MessageMentionOptions;
  readonly flags?: MessageFlags.SuppressEmbeds;
}

/** Pings as in `mentionsIn`; none by a reply. Previews of links only if the requester may embed links in the channel. */
export async function messageOptions(
  context: Context,
  caller: Caller,
  channel: Channel,
  text: string,
): Promise<MessageOptions> {
  const allowedMentions = { ...(await mentionsIn(context, caller, channel, text)), repliedUser: false };
  const isShown = !/https?:\/\//i.test(text) || (await may(context, caller, placeOf(channel), ['EmbedLinks']));
  return { allowedMentions, ...(isShown ? {} : { flags: MessageFlags.SuppressEmbeds }) };
}

/** Maximum number of members that are looked up and pinged for one message. */
const MOST_PEOPLE = 20;

/** Discord's limit for each list of `allowed_mentions`. */
const MOST_ROLES = 100;

const PEOPLE = /<@!?(\d{1,20})>/g;

const ROLES = /<@&(\d{1,20})>/g;

/**
 * The mentions that may ping: members in the text who can see the channel; @everyone, and roles that are not mentionable, only with the caller's permission.
 */
async function mentionsIn(
  context: Context,
  caller: Caller,
  channel: Channel,
  text: string,
): Promise<MessageMentionOptions> {
  if (channel.isDMBased()) return { parse: [], users: idsIn(text, PEOPLE).slice(0, MOST_PEOPLE), repliedUser: true };
  const at = placeOf(channel);
  const mayMentionAll = /@everyone|@here|<@&/.test(text) && (await may(context, caller, at, ['MentionEveryone']));
  const named = idsIn(text, ROLES);
  // In a private thread, a mention of a role adds every member who has it.
  const isForAll =
    named.length > 0 &&
    (channel.type !== ChannelType.PrivateThread || (await may(context, caller, at, ['ManageThreads'])));
  const roles = named.filter(
    (id) => isForAll && (mayMentionAll || channel.guild.roles.cache.get(id)?.mentionable === true),
  );
  const people = idsIn(text, PEOPLE).slice(0, MOST_PEOPLE);
  const seeing = await Promise.all(people.map(async (id) => ((await canSee(context, channel, id)) ? [id] : [])));
  return {
    parse: mayMentionAll ? ['everyone'] : [],
    roles: roles.slice(0, MOST_ROLES),
    users: seeing.flat(),
    repliedUser: false,
  };
}

/** Whether a user can see the channel. In a private thread, where a mention would add the user, whether they are a member already. */
async function canSee(
  { access }: Context,
  { guildId, id: channelId }: GuildBasedChannel,
  userId: string,
): Promise<boolean> {
  const place = { guildId, channelId };
  return access.mayEnter({ userId, ...place }, place);
}

function idsIn(text: string, pattern: RegExp): readonly string[] {
  return [...new Set([...text.matchAll(pattern)].flatMap((match) => match[1] ?? []))];
}
