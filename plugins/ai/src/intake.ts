import {
  answerMessages,
  asNotice,
  createKeyedMutex,
  createRateLimiter,
  defined,
  type FrontDoor,
  isDotMessage,
  linkSignals,
  mayRefer,
  noticeMessages,
  type Reply,
  repliesToOwn,
  sendOnce,
  type TextLimits,
  type Turn,
  type TurnEnd,
  t,
  turnEndReason,
} from '@cinnabar/sdk';
import {
  type Channel,
  type Message,
  type MessageReplyOptions,
  MessageType,
  PermissionFlagsBits,
  type SendableChannels,
} from 'discord.js';
import type { ChannelQueue } from './channel-queue.js';
import type { AiContext, AiSettings, Limits } from './context.js';

/**
 * Routes messages to the intake: those that address the bot, and those that responders hand in (`FrontDoor`). Excludes messages for which another part of the
 * bot waits, such as the answer to its question.
 */
export function createMessageRouter(context: AiContext, take: Take, deletedMessages: DeletedMessages) {
  const { settings, client, services, log } = context;
  const exclusions = new Set<(message: Message) => boolean>();
  const isExcluded = (message: Message) => [...exclusions].some((isTheirs) => isTheirs(message));
  const routeIn = (guildId: string | null, channelId: string) => {
    const channel = client.channels.cache.get(channelId);
    return channel === undefined ? responderIn(settings, guildId, [channelId]) : routeOf(settings, channel, guildId);
  };
  const arrival = (message: Message, trigger: Turn['trigger'], botId: string | undefined) => {
    const arrived = botId === undefined ? undefined : arrivalOf(context, message, trigger, botId);
    if (arrived === undefined)
      log.debug('not answered: the bot may not write there', { channelId: message.channelId, trigger });
    return arrived;
  };

  const frontDoor: FrontDoor = {
    claim(isMine) {
      exclusions.add(isMine);
      return () => void exclusions.delete(isMine);
    },
    stop: deletedMessages.stop,
    isAnswering: deletedMessages.isAnswering,
    responderIn: async (guildId, channelId) => (await routeIn(guildId, channelId)).responder,
    async take(message, { trigger, responder, text }) {
      if (isExcluded(message)) return false;
      if ((await routeIn(message.guildId, message.channelId)).responder !== responder) return false;
      const arrived = arrival(message, trigger, client.user?.id);
      return arrived === undefined ? false : take({ ...arrived, ...defined({ text }) });
    },
  };

  return {
    frontDoor,
    /** Called for every message. Accepts one that addresses the bot. */
    route(message: Message): Promise<boolean> | undefined {
      const botId = client.user?.id;
      const trigger = triggerOf(message, botId);
      if (trigger === undefined || services.commands.matches(message) || isExcluded(message)) return undefined;
      const arrived = arrival(message, trigger, botId);
      return arrived === undefined ? undefined : take(arrived);
    },
  };
}

/**
 * Why a message is for the bot; `undefined` if it is not. Runs for every message, so the common case needs only a few reads of fields. Ignores bots and
 * webhooks, mentions of a role or of everyone, and dot messages.
 */
function triggerOf(message: Message, botId: string | undefined): Turn['trigger'] | undefined {
  const { author, mentions } = message;
  if (message.guildId !== null && mentions.users.size === 0 && message.reference === null) return undefined;
  if (author.bot || message.webhookId !== null || botId === undefined) return undefined;
  if (message.type !== MessageType.Default && message.type !== MessageType.Reply) return undefined;
  if (isDotMessage(message.content)) return undefined;
  if (message.guildId === null) return 'dm';
  if (repliesToOwn(message)) return 'reply';
  return mentions.users.has(botId) ? 'mention' : undefined;
}

/** The text without the first mention of the bot, and a comma or colon after it. */
export function withoutMention(content: string, botId: string): string {
  const mention = new RegExp(`^\\s*<@!?${botId}>\\s*[,:;]?|<@!?${botId}>\\s*$`);
  return content.replace(mention, '').trim();
}

/** The turn of a message; `undefined` if the bot may not answer it. */
function arrivalOf(context: AiContext, message: Message, trigger: Turn['trigger'], botId: string): Arrival | undefined {
  const { channel, author: user, member, guild } = message;
  if (!channel.isSendable() || !maySend(channel)) return undefined;
  return {
    trigger,
    text: withoutMention(message.content, botId),
    actor: { userId: user.id, guildId: message.guildId, channelId: channel.id },
    user,
    member,
    guild,
    channel,
    message,
    signal: context.signal,
    reply: replyTo(context, message, channel),
    sending: (sent) => sent,
  };
}

function maySend(channel: SendableChannels): boolean {
  if (channel.isDMBased()) return true;
  const needed = channel.isThread() ? PermissionFlagsBits.SendMessagesInThreads : PermissionFlagsBits.SendMessages;
  const me = channel.guild.members.me;
  return me === null || channel.permissionsFor(me).has(PermissionFlagsBits.ViewChannel | needed);
}

/**
 * Answers a message: the first part as a reply to it, the others after it, files and embeds on the last. Only its author can be pinged.
 * Resolves with the last message sent.
 */
function replyTo(
  { settings, services: { clock, random }, signal }: AiContext,
  message: Message,
  channel: SendableChannels,
): (reply: Reply) => Promise<Message> {
  const allowedMentions = { parse: [], users: [message.author.id], repliedUser: true };
  let replied = !mayRefer(channel);
  const send = (options: Omit<MessageReplyOptions, 'failIfNotExists'>): Promise<Message> => {
    // The answer is sent even if the question was deleted meanwhile.
    const reply = replied ? {} : { reply: { messageReference: message.id, failIfNotExists: false } };
    replied = true;
    return sendOnce(channel, { ...options, ...reply, allowedMentions }, random.id(), { clock, signal });
  };
  return async (reply) => {
    const body = typeof reply === 'string' ? { content: reply } : reply;
    const split = body.notice === true ? noticeMessages : answerMessages;
    const parts = split(body.content ?? '', { limits: answerLimitsIn(await settings.guild(message.guildId).get()) });
    for (const { content } of parts.slice(0, -1)) await send({ content });
    const { content = body.notice === true ? asNotice('') : '', files = [] } = parts.at(-1) ?? {};
    const { embeds, components, files: attached } = body;
    const all = [...files, ...(attached ?? [])];
    return send({ ...defined({ embeds, components }), content, ...(all.length === 0 ? {} : { files: all }) });
  };
}

/** The length above which an answer becomes a file. */
export function answerLimitsIn({ answerMessages, answerCharacters }: Limits): TextLimits {
  return { messages: answerMessages, characters: answerCharacters };
}

export interface Route {
  readonly responder: string;
  /** The setting from which the responder comes. */
  readonly chosen: 'channel' | 'guild' | 'user' | 'default';
}

/** The responder of a channel. A thread uses its parent's unless it has its own; in a direct message the user chooses. */
export function routeOf(settings: AiSettings, channel: Channel, guildId: string | null): Promise<Route> {
  if (channel.isDMBased()) return directResponder(settings, 'recipientId' in channel ? channel.recipientId : null);
  const parents = channel.isThread() && channel.parentId !== null ? [channel.parentId] : [];
  return responderIn(settings, guildId, [channel.id, ...parents]);
}

async function directResponder(settings: AiSettings, userId: string | null): Promise<Route> {
  const chosen = userId === null ? undefined : (await settings.user(userId).get()).directResponder;
  if (chosen !== undefined) return { responder: chosen, chosen: 'user' };
  return { responder: (await settings.global.get()).defaultResponder, chosen: 'default' };
}

/** @param channelIds the channel, then its parent */
async function responderIn(
  settings: AiSettings,
  guildId: string | null,
  channelIds: readonly string[],
): Promise<Route> {
  for (const id of channelIds) {
    const { channelResponder } = await settings.channel(id).get();
    if (channelResponder !== undefined) return { responder: channelResponder, chosen: 'channel' };
  }
  const responder = guildId === null ? undefined : (await settings.guild(guildId).get()).responder;
  if (responder !== undefined) return { responder, chosen: 'guild' };
  return { responder: (await settings.global.get()).defaultResponder, chosen: 'default' };
}

const MINUTE_MS = 60_000;

/** A turn to which the intake has not assigned an id yet. */
export type Arrival = Omit<Turn, 'id' | 'earlier'>;
export type Take = (arrival: Arrival) => Promise<boolean>;

/**
 * Admits turns in the order of their arrival, within the limits of the member and the channel. `take` resolves with `true` when the turn was answered, with
 * `false` when it was refused; it never rejects.
 */
export function createIntake(
  { services, settings, log }: AiContext,
  queue: ChannelQueue,
  answer: (turns: readonly [Turn]) => Promise<void>,
  deletedMessages: DeletedMessages,
) {
  const { clock, languages, random, responders } = services;
  const rateLimiter = createRateLimiter(clock, MINUTE_MS);
  const admissions = createKeyedMutex();

  /** A sentence if the turn is refused; empty to refuse it without an answer. */
  const refusalOf = async (turn: Turn): Promise<string | undefined> => {
    const { actor, trigger } = turn;
    const limits = await settings.guild(actor.guildId).get();
    const asked = trigger !== 'name' && trigger !== 'random' && !turn.user.bot;
    const excess = rateLimiter.take(actor.userId, limits.turnsPerMinute);
    if (excess === undefined) {
      const sentence = await queueExcess(turn, limits);
      return sentence === undefined || asked ? sentence : '';
    }
    return asked && (excess.isFirst || turn.message === null) ? waitSentence(excess.waitMs) : '';
  };

  /** A sentence if too many turns wait; responders with their own queue have no limit here. */
  const queueExcess = async (turn: AskedPlace, limits: Limits) =>
    (await hasOwnQueue(turn)) ? undefined : ((await ownExcess(turn, limits)) ?? (await channelExcess(turn, limits)));

  const hasOwnQueue = async ({ channel, actor }: AskedPlace): Promise<boolean> => {
    const { responder } = await routeOf(settings, channel, actor.guildId);
    return responders.list(actor.guildId).find(({ name }) => name === responder)?.queues === true;
  };

  /** A sentence if the member has too many pending turns. */
  const ownExcess = async ({ channel, actor }: AskedPlace, { maxWaitingOfMember }: Limits) => {
    const { perMember } = await settings.global.get();
    if (queue.elsewhere(channel.id, actor.userId) >= perMember) return manySentence(perMember);
    return queue.waitingOf(channel.id, actor.userId) >= maxWaitingOfMember
      ? ownSentence(maxWaitingOfMember)
      : undefined;
  };

  const channelExcess = async (turn: AskedPlace, { maxWaiting }: Limits) => {
    const { channel, actor } = turn;
    if (!queue.busy(channel.id)) return undefined;
    const { responder } = await routeOf(settings, channel, actor.guildId);
    const most = Math.min(maxWaiting, (await responders.maxWaiting(responder, turn)) ?? maxWaiting);
    const waiting = queue.waiting(channel.id);
    return waiting < most || !queue.busy(channel.id) ? undefined : fullSentence(waiting);
  };

  const take: Take = async (arrival) => {
    const arrived: Turn = { ...arrival, id: random.id(), earlier: [] };
    if (deletedMessages.knows(arrived)) return false;
    const watch = deletedMessages.watch(arrived);
    const { turn } = watch;
    try {
      // One turn of a channel at a time, so that a slow check does not change the order.
      const answered = await admissions.run(turn.channel.id, async () => {
        const refusal = await languages.speak(turn.actor, () => refusalOf(turn));
        if (refusal === undefined && (await hasOwnQueue(turn))) return { end: await answer([turn]) };
        if (refusal === undefined) return { end: queue.run(turn) };
        log.debug('a turn was refused', { turnId: turn.id, channelId: turn.channel.id, trigger: turn.trigger });
        const text = refusal === '' ? t('Limits on how much is answered at once held it back.') : refusal;
        if (turn.message !== null) services.decisions.note(turn.message.id, { text });
        if (refusal !== '') await turn.reply({ content: refusal, notice: true });
        return undefined;
      });
      await answered?.end;
      return answered !== undefined;
    } catch (error) {
      log.warn('a turn could not be answered', { turnId: turn.id, channelId: turn.channel.id, error });
      return false;
    } finally {
      watch.end();
    }
  };

  return {
    take,
    /** Why a turn of the actor would be refused now; `undefined` if it would not. Counts nothing. */
    async refusal(place: AskedPlace): Promise<string | undefined> {
      const { guildId, userId } = place.actor;
      const limits = await settings.guild(guildId).get();
      const waitMs = rateLimiter.waitMs(userId, limits.turnsPerMinute);
      return waitMs > 0 ? waitSentence(waitMs) : queueExcess(place, limits);
    },
  };
}

/** The place of a request. */
type AskedPlace = Pick<Turn, 'actor' | 'channel' | 'guild'>;

function waitSentence(waitMs: number): string {
  return t('That was a lot at once. Please wait {seconds} s.', { seconds: Math.max(1, Math.ceil(waitMs / 1000)) });
}

function manySentence(channels: number): string {
  return t(
    'I am still busy with what you asked in {channels, plural, one {another channel} other {# other channels}}. Please ask again when I have answered there.',
    { channels },
  );
}

function ownSentence(waiting: number): string {
  return t(
    '{waiting, plural, one {A message of yours is} other {# messages of yours are}} waiting in this channel. Please ask again when I have answered.',
    { waiting },
  );
}

function fullSentence(waiting: number): string {
  return t(
    '{waiting, plural, =0 {I am} one {# message is waiting and I am} other {# messages are waiting and I am}} still busy with an answer in this channel. Please ask again in a moment.',
    { waiting },
  );
}

interface Watched {
  readonly turn: Turn;
  cancel(end: TurnEnd): void;
}

type DeletedMessages = ReturnType<typeof createDeletedMessages>;

/** Aborts the signal of a turn when its message was deleted or became a dot message, or a member stopped it. The signal's reason says which. */
export function createDeletedMessages({ on }: AiContext) {
  const watched = new Set<Watched>();
  const byQuestion = new Map<string, Watched>();
  const withdraw = ({ id }: { readonly id: string }) => byQuestion.get(id)?.cancel('withdrawn');
  on('messageDelete', withdraw);
  on('messageUpdate', (_old, message) => {
    if (isDotMessage(message.content)) withdraw(message);
  });
  on('messageDeleteBulk', (messages) => {
    for (const message of messages.values()) withdraw(message);
  });
  return {
    /** Watches a turn until `end`. Returns the turn with its signal. */
    watch(arrived: Turn) {
      const controller = new AbortController();
      const linked = linkSignals(arrived.signal, controller.signal);
      const turn = { ...arrived, signal: linked.signal };
      const one = { turn, cancel: (end: TurnEnd) => controller.abort(turnEndReason(end)) };
      // The messages of these commands are always deleted.
      const isCommand = turn.trigger === 'activate' || turn.trigger === 'continue';
      const questionId = isCommand ? undefined : turn.message?.id;
      watched.add(one);
      if (questionId !== undefined) byQuestion.set(questionId, one);
      return {
        turn,
        end() {
          watched.delete(one);
          if (questionId !== undefined) byQuestion.delete(questionId);
          linked.release();
        },
      };
    },
    /** Whether a turn of the same message is being watched: a message is answered once. */
    knows: ({ message }: Turn) => message !== null && byQuestion.has(message.id),
    /** Whether a turn of the channel is being watched. */
    isAnswering: (channelId: string) => [...watched].some(({ turn }) => turn.channel.id === channelId),
    /** Stops the turns of a channel for which `isTheirs` is true. @returns their number, and the number of all turns */
    stop(channelId: string, isTheirs: (turn: Turn) => boolean) {
      const there = [...watched].filter(({ turn }) => turn.channel.id === channelId);
      const theirs = there.filter(({ turn }) => isTheirs(turn));
      for (const one of theirs) one.cancel('stopped');
      return { stopped: theirs.length, found: there.length };
    },
  };
}
