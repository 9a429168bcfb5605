import { type Clock, type Random, type Registrar, type Responders, sentenceOf, type Turn } from '@cinnabar/sdk';
import { createAllowance } from './allowance.js';
import type { ChannelQueue } from './channel-queue.js';
import { routeOf } from './routing.js';
import { type AiSettings, limitsOf } from './settings.js';
import { showTyping } from './typing.js';

const SWEEP_MS = 60_000;
const FAILED = 'Something went wrong while I was answering. It is in the log; please try again.';
const STOPPED = 'I was stopped before I could answer this. Please ask again.';

export interface IntakeParts extends Pick<Registrar, 'every' | 'log'> {
  readonly clock: Clock;
  readonly random: Random;
  readonly responders: Responders;
  readonly settings: AiSettings;
  readonly queue: ChannelQueue;
}

/** A turn as it arrives; the intake gives it an id. */
export type Arrival = Omit<Turn, 'id'>;

/** Builds what brings every turn to its responder: within the member's limits, in the channel's order, with typing shown. Never rejects. */
export function createIntake({ clock, random, responders, settings, queue, every, log }: IntakeParts) {
  const allowance = createAllowance(clock);
  every(SWEEP_MS, allowance.sweep);

  const answer = async (turn: Turn): Promise<void> => {
    const stopTyping = turn.message === null ? undefined : showTyping(turn.channel, { every, log });
    try {
      if (turn.signal.aborted) await turn.reply(STOPPED);
      else await responders.respond(await responderFor(turn), turn);
    } catch (error) {
      const sentence = sentenceOf(error);
      const level = sentence === undefined ? 'error' : 'info';
      log[level]('a turn was not answered', { turnId: turn.id, channelId: turn.channel.id, error });
      await turn.reply(sentence ?? FAILED);
    } finally {
      await stopTyping?.();
    }
  };
  const responderFor = async (turn: Turn) => (await routeOf(settings, turn.channel, turn.actor.guildId)).responder;

  return async function take(arrival: Arrival): Promise<void> {
    const turn: Turn = { ...arrival, id: random.id() };
    const { channel, actor } = turn;
    try {
      const { turnsPerMinute, maxWaiting } = await limitsOf(settings, actor.guildId);
      const excess = allowance.take(actor.userId, turnsPerMinute);
      if (excess !== undefined) {
        const seconds = Math.max(1, Math.ceil(excess.waitMs / 1000));
        if (excess.first || turn.message === null)
          await turn.reply(`That was a lot at once. Please wait ${seconds} s.`);
        return;
      }
      const taken = await queue.run(channel.id, maxWaiting, () => answer(turn));
      if (!taken) await turn.reply(fullSentence(queue.waiting(channel.id)));
    } catch (error) {
      log.warn('a turn could not be answered', { turnId: turn.id, channelId: channel.id, error });
    }
  };
}

function fullSentence(waiting: number): string {
  const others =
    waiting === 0 ? 'I am' : `${waiting} ${waiting === 1 ? 'message is' : 'messages are'} waiting and I am`;
  return `${others} still busy with an answer in this channel. Please ask again in a moment.`;
}
