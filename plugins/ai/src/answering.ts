import {
  type Clock,
  createDeadline,
  type Deadline,
  isForOperators,
  type Registrar,
  type Responders,
  sentenceOf,
  sleep,
  type Turn,
  turnEndOf,
  withReference,
} from '@cinnabar/sdk';
import { withoutMention } from './activation.js';
import { routeOf } from './routing.js';
import { type AiSettings, answerLimitsIn, type Limits, limitsOf } from './settings.js';
import type { StillWorking } from './still-working.js';
import { showTyping } from './typing.js';

const FAILED = 'Something went wrong while I was answering. Please try again.';
/** Must be true of a restart, and of a stop for good. */
const STOPPED = 'I was stopped before I had finished this. Please ask again.';
/** For a slash command, which shows that the bot is thinking until it has an answer. */
const ENDED = 'Stopped.';
/** A responder that does not listen to its signal is not waited for: the person would hear nothing. */
const STOP_GRACE_MS = 500;
/** The same where its time is up: it may have to write down what it has used. */
const DEADLINE_GRACE_MS = 5_000;
/** What keeps to the deadline by itself has a sentence of its own for it, and ends before its signal aborts. */
const AFTER_DEADLINE_MS = 2_000;

export interface AnsweringParts extends Pick<Registrar, 'every' | 'log'> {
  readonly clock: Clock;
  readonly responders: Responders;
  readonly settings: AiSettings;
  readonly stillWorking: StillWorking;
}

/** Builds what hands turns to the responder of their channel, with typing shown, and says what goes wrong. Never rejects. */
export function createAnswering({ responders, settings, stillWorking, clock, every, log }: AnsweringParts) {
  const responderFor = async ({ channel, actor }: Turn) => (await routeOf(settings, channel, actor.guildId)).responder;
  const infoOf = (name: string, { actor }: Turn) => responders.list(actor.guildId).find((info) => info.name === name);

  /** Has the turn answered, while it is shown that this is under way. */
  const respond = async (turn: Turn, limits: Limits, deadline: Deadline) => {
    const { deadlineSeconds, patienceSeconds } = limits;
    const responder = await responderFor(turn);
    const showsTyping = turn.message !== null && infoOf(responder, turn)?.typesItself !== true;
    const stopTyping = showsTyping ? showTyping(turn.channel, { every, log }) : undefined;
    const stopSaying = stillWorking.watch(turn, patienceSeconds, deadlineSeconds);
    let isGivenUp = false;
    const bounded: Turn = {
      ...turn,
      // Those who have been told that there is no answer get none later.
      reply: (body) => (isGivenUp ? Promise.reject(new Error('the turn was given up')) : turn.reply(body)),
      signal: deadline.signal,
      deadlineAt: clock.now() + deadlineSeconds * 1_000,
      answerLimits: answerLimitsIn(limits),
    };
    try {
      const end = await untilEnded(deadline, clock, responders.respond(responder, bounded));
      isGivenUp = end === 'left';
      if (isGivenUp && deadline.isUp) log.warn('a responder did not end in time', { responder, turnId: turn.id });
      return end;
    } finally {
      const tidied = stopSaying();
      // Those who wait come first when there is little time.
      if (!turn.signal.aborted) await tidied;
      await stopTyping?.();
    }
  };

  /** Resolves with the turns that are still to be answered, because others of them were taken back meanwhile. */
  const attempt = async (turns: readonly [...Turn[], Turn]): Promise<readonly Turn[]> => {
    const earlier = turns.slice(0, -1).map(asEdited);
    const turn = { ...asEdited(turns[turns.length - 1] ?? turns[0]), earlier };
    const stopping = () => turns.some(({ signal }) => signal.aborted && turnEndOf(signal) === undefined);
    // A plugin that has stopped cannot start a timer for typing any more.
    if (stopping()) return tellAll(turns, STOPPED, log);
    const limits = await limitsOf(settings, turn.actor.guildId).catch(() => limitsOf(settings, null));
    const signals = turns.map(({ signal }) => signal);
    const deadline = createDeadline(clock, limits.deadlineSeconds * 1_000 + AFTER_DEADLINE_MS, signals);
    const late = outOfTime(limits.deadlineSeconds);
    /** Whatever fails once its signal has aborted fails because of that. */
    const whyEnded = () => {
      if (stopping()) return STOPPED;
      return deadline.isUp ? late : undefined;
    };
    let sentence: string | undefined;
    try {
      const end = await respond(turn, limits, deadline);
      if (end === 'answered') return [];
      sentence = whyEnded();
    } catch (error) {
      sentence = whyEnded();
      const isExpected = sentence !== undefined || !turns.every(isWanted) || !isForOperators(error);
      const where = { turnId: turn.id, earlier: earlier.length, channelId: turn.channel.id };
      log[isExpected ? 'info' : 'error']('a turn was not answered', { ...where, error });
      if (turns.every(isWanted)) sentence ??= sentenceOf(error, turn.id) ?? withReference(FAILED, turn.id);
    } finally {
      deadline.end();
    }
    if (sentence === undefined && !turns.every(isWanted)) return turns.filter(isWanted);
    return tellAll(turns.filter(isWanted), sentence ?? FAILED, log);
  };

  return {
    async takesBatches(turn: Turn): Promise<boolean> {
      return infoOf(await responderFor(turn), turn)?.batches === true;
    },
    async answer(turns: readonly [...Turn[], Turn]): Promise<void> {
      for (let left: readonly Turn[] = turns; isSome(left); ) left = await attempt(left);
      const ended = turns.filter(({ message, signal }) => message === null && turnEndOf(signal) === 'stopped');
      await tellAll(ended, ENDED, log);
    },
  };
}

/** Waits for the work, but not for long once its signal has aborted. */
async function untilEnded(deadline: Deadline, clock: Clock, work: Promise<void>): Promise<'answered' | 'left'> {
  const done = new AbortController();
  const left = new Promise<'left'>((resolve) => {
    const wait = async () => {
      const graceMs = deadline.isUp ? DEADLINE_GRACE_MS : STOP_GRACE_MS;
      if (await sleep(clock, graceMs, done.signal)) resolve('left');
    };
    if (deadline.signal.aborted) void wait();
    else deadline.signal.addEventListener('abort', wait, { signal: done.signal });
  });
  try {
    return await Promise.race([work.then(() => 'answered' as const), left]);
  } finally {
    done.abort();
  }
}

function isWanted({ signal }: Turn): boolean {
  return turnEndOf(signal) === undefined;
}

function isSome(turns: readonly Turn[]): turns is readonly [...Turn[], Turn] {
  return turns.length > 0;
}

function outOfTime(seconds: number): string {
  return `I could not answer this within ${seconds} s, so I gave up. Please ask again.`;
}

/** Tells each person who asked, once. Who has not asked is not told. */
async function tellAll(turns: readonly Turn[], sentence: string, log: Registrar['log']): Promise<[]> {
  const asked = turns.filter(({ trigger }) => trigger !== 'random');
  const newest = new Map(asked.map((turn) => [turn.actor.userId, turn]));
  for (const turn of newest.values()) {
    try {
      await turn.reply({ content: sentence, notice: true });
    } catch (error) {
      log.warn('it could not be said that a turn was not answered', { turnId: turn.id, error });
    }
  }
  return [];
}

/** A message may have been edited while it waited; discord.js keeps it up to date. */
function asEdited(turn: Turn): Turn {
  const { message, trigger } = turn;
  if (message === null || message.editedTimestamp === null || trigger === 'command') return turn;
  if (trigger === 'activate' || trigger === 'continue') return turn;
  return { ...turn, text: withoutMention(message.content, message.client.user.id) };
}
