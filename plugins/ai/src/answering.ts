import { type Clock, type Registrar, type Responders, sentenceOf, sleep, type Turn } from '@cinnabar/sdk';
import { withoutMention } from './activation.js';
import { routeOf } from './routing.js';
import type { AiSettings } from './settings.js';
import { showTyping } from './typing.js';

const FAILED = 'Something went wrong while I was answering. It is in the log; please try again.';
/** Must be true of a restart, and of a stop for good. */
const STOPPED = 'I was stopped before I had finished this. Please ask again.';
/** A responder that does not listen to its signal is not waited for: the person would hear nothing. */
const GRACE_MS = 500;

export interface AnsweringParts extends Pick<Registrar, 'every' | 'log'> {
  readonly responders: Responders;
  readonly settings: AiSettings;
  readonly clock: Clock;
}

/** Builds what hands turns to the responder of their channel, with typing shown, and says what goes wrong. Never rejects. */
export function createAnswering({ responders, settings, clock, every, log }: AnsweringParts) {
  const responderFor = async ({ channel, actor }: Turn) => (await routeOf(settings, channel, actor.guildId)).responder;
  const infoOf = (name: string, { actor }: Turn) => responders.list(actor.guildId).find((info) => info.name === name);

  return {
    async takesBatches(turn: Turn): Promise<boolean> {
      return infoOf(await responderFor(turn), turn)?.batches === true;
    },
    async answer(turns: readonly [...Turn[], Turn]): Promise<void> {
      const earlier = turns.slice(0, -1).map(asEdited);
      const turn = { ...asEdited(turns[turns.length - 1] ?? turns[0]), earlier };
      // A plugin that has stopped cannot start a timer for typing any more.
      if (turn.signal.aborted) return tellAll(turns, STOPPED, log);
      let stopTyping: (() => Promise<void>) | undefined;
      let sentence: string | undefined;
      try {
        const responder = await responderFor(turn);
        const showsTyping = turn.message !== null && infoOf(responder, turn)?.typesItself !== true;
        if (showsTyping) stopTyping = showTyping(turn.channel, { every, log });
        const end = await untilStopped(turn.signal, clock, responders.respond(responder, turn));
        if (end === 'stopped') sentence = STOPPED;
      } catch (error) {
        const known = sentenceOf(error);
        const where = { turnId: turn.id, earlier: earlier.length, channelId: turn.channel.id };
        log[known === undefined ? 'error' : 'info']('a turn was not answered', { ...where, error });
        // Whatever fails now fails because of that.
        sentence = turn.signal.aborted ? STOPPED : (known ?? FAILED);
      } finally {
        await stopTyping?.();
      }
      if (sentence !== undefined) await tellAll(turns, sentence, log);
    },
  };
}

async function untilStopped(signal: AbortSignal, clock: Clock, work: Promise<void>): Promise<'answered' | 'stopped'> {
  const done = new AbortController();
  const stopped = new Promise<'stopped'>((resolve) => {
    const wait = async () => {
      if (await sleep(clock, GRACE_MS, done.signal)) resolve('stopped');
    };
    signal.addEventListener('abort', wait, { signal: done.signal });
  });
  try {
    return await Promise.race([work.then(() => 'answered' as const), stopped]);
  } finally {
    done.abort();
  }
}

/** Tells each person who asked, once. Who has not asked is not told. */
async function tellAll(turns: readonly Turn[], sentence: string, log: Registrar['log']): Promise<void> {
  const asked = turns.filter(({ trigger }) => trigger !== 'random');
  const newest = new Map(asked.map((turn) => [turn.actor.userId, turn]));
  for (const turn of newest.values()) {
    try {
      await turn.reply(sentence);
    } catch (error) {
      log.warn('it could not be said that a turn was not answered', { turnId: turn.id, error });
    }
  }
}

/** A message may have been edited while it waited; discord.js keeps it up to date. */
function asEdited(turn: Turn): Turn {
  const { message, trigger } = turn;
  if (message === null || message.editedTimestamp === null || trigger === 'command') return turn;
  if (trigger === 'activate' || trigger === 'continue') return turn;
  return { ...turn, text: withoutMention(message.content, message.client.user.id) };
}
