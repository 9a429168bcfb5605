import { type Clock, createSequences, type Random, type Registrar, type Responders, type Turn } from '@cinnabar/sdk';
import { createAllowance } from './allowance.js';
import type { ChannelQueue } from './channel-queue.js';
import { routeOf } from './routing.js';
import { type AiSettings, limitsOf } from './settings.js';
import type { Withdrawals } from './withdrawals.js';

const SWEEP_MS = 60_000;

export interface IntakeParts extends Pick<Registrar, 'every' | 'log'> {
  readonly clock: Clock;
  readonly random: Random;
  readonly responders: Responders;
  readonly settings: AiSettings;
  readonly queue: ChannelQueue;
  readonly withdrawals: Withdrawals;
}

/** A turn as it arrives; the intake gives it an id. */
export type Arrival = Omit<Turn, 'id' | 'earlier'>;
export type Take = (arrival: Arrival) => Promise<boolean>;

/** Builds what lets turns in: within the member's limits, in the order in which they came. Resolves when answered, or with `false`. Never rejects. */
export function createIntake({
  clock,
  random,
  responders,
  settings,
  queue,
  withdrawals,
  every,
  log,
}: IntakeParts): Take {
  const allowance = createAllowance(clock);
  const sequences = createSequences();
  every(SWEEP_MS, allowance.sweep);

  /** A sentence when the turn is refused; empty when nobody is to be told. */
  const refusalOf = async (turn: Turn): Promise<string | undefined> => {
    const { channel, actor, trigger } = turn;
    const { turnsPerMinute, maxWaiting } = await limitsOf(settings, actor.guildId);
    const asked = trigger !== 'name' && trigger !== 'random' && !turn.user.bot;
    const excess = allowance.take(actor.userId, turnsPerMinute);
    if (excess !== undefined) {
      const seconds = Math.max(1, Math.ceil(excess.waitMs / 1000));
      return asked && (excess.first || turn.message === null)
        ? `That was a lot at once. Please wait ${seconds} s.`
        : '';
    }
    if (!queue.busy(channel.id)) return undefined;
    const { responder } = await routeOf(settings, channel, actor.guildId);
    const most = Math.min(maxWaiting, (await responders.maxWaiting(responder, turn)) ?? maxWaiting);
    const waiting = queue.waiting(channel.id);
    if (waiting < most || !queue.busy(channel.id)) return undefined;
    return asked ? fullSentence(waiting) : '';
  };

  return async function take(arrival: Arrival): Promise<boolean> {
    const turn: Turn = { ...arrival, id: random.id(), earlier: [] };
    if (withdrawals.knows(turn)) return false;
    const watch = withdrawals.watch(turn);
    try {
      // Let in one after another, so that a slow check does not change the order.
      const answered = await sequences.run(turn.channel.id, async () => {
        const refusal = await refusalOf(turn);
        if (refusal === undefined) return { end: queue.run(turn) };
        log.debug('a turn was refused', { turnId: turn.id, channelId: turn.channel.id, trigger: turn.trigger });
        if (refusal !== '') await turn.reply(refusal);
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

function fullSentence(waiting: number): string {
  const others =
    waiting === 0 ? 'I am' : `${waiting} ${waiting === 1 ? 'message is' : 'messages are'} waiting and I am`;
  return `${others} still busy with an answer in this channel. Please ask again in a moment.`;
}
