import { createKeyedMutex, createRateLimiter, type Turn } from '@cinnabar/sdk';
import type { ChannelQueue } from './channel-queue.js';

import type { AiContext } from './context.js';
import type { DeletedMessages } from './deleted-messages.js';
import { routeOf } from './message-router.js';
import { type Limits, limitsOf } from './settings.js';

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
    const limits = await limitsOf(settings, actor.guildId);
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
