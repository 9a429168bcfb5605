import {
  createKeyedMutex,
  createRateLimiter,
  isDotMessage,
  linkSignals,
  type Turn,
  type TurnEnd,
  turnEndReason,
} from '@cinnabar/sdk';
import type { ChannelQueue } from './channel-queue.js';
import type { AiContext, Limits } from './context.js';
import { routeOf } from './message-router.js';

const MINUTE_MS = 60_000;

/** A turn as it arrives; the intake gives it an id. */
export type Arrival = Omit<Turn, 'id' | 'earlier'>;
export type Take = (arrival: Arrival) => Promise<boolean>;

/**
 * Admits turns in the order of their arrival, within the limits of the member and the channel. The function resolves when the turn has been
 * answered, or with `false`; it never rejects.
 */
export function createIntake(
  { services, settings, log }: AiContext,
  queue: ChannelQueue,
  answer: (turns: readonly [Turn]) => Promise<void>,
  deletedMessages: DeletedMessages,
): Take {
  const { clock, random, responders } = services;
  const rateLimiter = createRateLimiter(clock, MINUTE_MS);
  const admissions = createKeyedMutex();

  /** A sentence when the turn is refused; empty to refuse it without a word. */
  const refusalOf = async (turn: Turn): Promise<string | undefined> => {
    const { actor, trigger } = turn;
    const limits = await settings.guild(actor.guildId).get();
    const asked = trigger !== 'name' && trigger !== 'random' && !turn.user.bot;
    const excess = rateLimiter.take(actor.userId, limits.turnsPerMinute);
    if (excess === undefined) {
      if (await hasOwnQueue(turn)) return undefined;
      const sentence = (await ownExcess(turn, limits)) ?? (await channelExcess(turn, limits));
      return sentence === undefined || asked ? sentence : '';
    }
    const seconds = Math.max(1, Math.ceil(excess.waitMs / 1000));
    return asked && (excess.isFirst || turn.message === null)
      ? `That was a lot at once. Please wait ${seconds} s.`
      : '';
  };

  const hasOwnQueue = async ({ channel, actor }: Turn): Promise<boolean> => {
    const { responder } = await routeOf(settings, channel, actor.guildId);
    return responders.list(actor.guildId).find(({ name }) => name === responder)?.queues === true;
  };

  /** The limit of what one member may have under way. */
  const ownExcess = async ({ channel, actor }: Turn, { maxWaitingOfMember }: Limits) => {
    const { perMember } = await settings.global.get();
    if (queue.elsewhere(channel.id, actor.userId) >= perMember) return manySentence(perMember);
    return queue.waitingOf(channel.id, actor.userId) >= maxWaitingOfMember
      ? ownSentence(maxWaitingOfMember)
      : undefined;
  };

  const channelExcess = async (turn: Turn, { maxWaiting }: Limits) => {
    const { channel, actor } = turn;
    if (!queue.busy(channel.id)) return undefined;
    const { responder } = await routeOf(settings, channel, actor.guildId);
    const most = Math.min(maxWaiting, (await responders.maxWaiting(responder, turn)) ?? maxWaiting);
    const waiting = queue.waiting(channel.id);
    return waiting < most || !queue.busy(channel.id) ? undefined : fullSentence(waiting);
  };

  return async function take(arrival: Arrival): Promise<boolean> {
    const arrived: Turn = { ...arrival, id: random.id(), earlier: [] };
    if (deletedMessages.knows(arrived)) return false;
    const watch = deletedMessages.watch(arrived);
    const { turn } = watch;
    try {
      // One at a time, so that a slow check does not change the order.
      const answered = await admissions.run(turn.channel.id, async () => {
        const refusal = await refusalOf(turn);
        if (refusal === undefined && (await hasOwnQueue(turn))) return { end: await answer([turn]) };
        if (refusal === undefined) return { end: queue.run(turn) };
        log.debug('a turn was refused', { turnId: turn.id, channelId: turn.channel.id, trigger: turn.trigger });
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
}

function manySentence(channels: number): string {
  const where = channels === 1 ? 'another channel' : `${channels} other channels`;
  return `I am still busy with what you asked in ${where}. Please ask again when I have answered there.`;
}

function ownSentence(waiting: number): string {
  const messages = waiting === 1 ? 'A message of yours is' : `${waiting} messages of yours are`;
  return `${messages} waiting in this channel. Please ask again when I have answered.`;
}

function fullSentence(waiting: number): string {
  const others =
    waiting === 0 ? 'I am' : `${waiting} ${waiting === 1 ? 'message is' : 'messages are'} waiting and I am`;
  return `${others} still busy with an answer in this channel. Please ask again in a moment.`;
}

interface Watched {
  readonly turn: Turn;
  cancel(end: TurnEnd): void;
}

export type DeletedMessages = ReturnType<typeof createDeletedMessages>;

/** Aborts the signal of a turn whose message was deleted or made a dot message, or that a member stopped; the reason says which. */
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
    /** Watches a turn until `end`. The turn that it returns is the one to answer. */
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
    /** Stops the turns of a channel for which `isTheirs` holds. @returns how many those were, and how many there are */
    stop(channelId: string, isTheirs: (turn: Turn) => boolean) {
      const there = [...watched].filter(({ turn }) => turn.channel.id === channelId);
      const theirs = there.filter(({ turn }) => isTheirs(turn));
      for (const one of theirs) one.cancel('stopped');
      return { stopped: theirs.length, found: there.length };
    },
  };
}
