import {
  type Audience,
  createDeadline,
  createOutgoing,
  type Deadline,
  isForOperators,
  keepTyping,
  type Registrar,
  sentenceOf,
  type Turn,
  t,
  turnEndOf,
  withAbortGrace,
  withReference,
} from '@cinnabar/sdk';
import type { AiContext, Limits } from './context.js';
import { answerLimitsIn, routeOf, withoutMention } from './intake.js';
import type { StillWorking } from './still-working.js';

const failure = () => t('Something went wrong while I was answering. Please try again.');
/** True for a restart and for a final stop. */
const stopped = () => t('I was stopped before I had finished this. Please ask again.');
/** The answer to a stopped slash command, which shows "thinking" until it has one. */
const ending = () => t('Stopped.');
/** How long a responder may run after its signal has aborted, in ms. */
const STOP_GRACE_MS = 500;
/** The same after the deadline, since the responder may have to record its usage. */
const DEADLINE_GRACE_MS = 5_000;
/** How long after the deadline the signal aborts, so that a responder that observes the deadline can reply with its own sentence. */
const AFTER_DEADLINE_MS = 2_000;

/** Runs turns with the responder of their channel, shows typing, and replies with a sentence when one fails. Never rejects. */
export function createTurnRunner({ services, settings, signal, log }: AiContext, stillWorking: StillWorking) {
  const { clock, languages, responders } = services;
  const responderFor = async ({ channel, actor }: Turn) => (await routeOf(settings, channel, actor.guildId)).responder;
  const infoOf = (name: string, { actor }: Turn) => responders.list(actor.guildId).find((info) => info.name === name);

  /** Records outcomes for `!why`. */
  const note = (turns: readonly Turn[], text: string) => {
    for (const { message } of turns) if (message !== null) services.decisions.note(message.id, { text });
  };

  /** Runs the responder, with typing and the "still working" notice. @returns whether it ended, with or without an answer */
  const respond = async (turn: Turn, limits: Limits, deadline: Deadline) => {
    const { deadlineSeconds, patienceSeconds } = limits;
    const responder = await responderFor(turn);
    note([...turn.earlier, turn], t('It was said to me and went to `{responder}`.', { responder }));
    const showsTyping = turn.message !== null && infoOf(responder, turn)?.typesItself !== true;
    const stopTyping = showsTyping ? keepTyping(turn.channel, { clock, log, signal }) : undefined;
    const stopNotice = stillWorking.watch(turn, patienceSeconds, deadlineSeconds);
    let isGivenUp = false;
    const outgoing = createOutgoing();
    const sending: Turn['sending'] = (message) => {
      for (const one of [...turn.earlier, turn]) void one.sending(message);
      return outgoing.add(message);
    };
    const bounded: Turn = {
      ...turn,
      // A turn that was given up gets no answer later.
      reply: (body) => (isGivenUp ? Promise.reject(new Error('the turn was given up')) : sending(turn.reply(body))),
      sending,
      signal: deadline.signal,
      deadlineAt: clock.now() + deadlineSeconds * 1_000,
      answerLimits: answerLimitsIn(limits),
    };
    try {
      const graceMs = () => (deadline.isUp ? DEADLINE_GRACE_MS : STOP_GRACE_MS);
      const work = responders.respond(responder, bounded);
      isGivenUp = !(await withAbortGrace(clock, graceMs, work, deadline.signal, outgoing)).inTime;
      if (isGivenUp && deadline.isUp) log.warn('a responder did not end in time', { responder, turnId: turn.id });
      return !isGivenUp;
    } finally {
      const tidied = stopNotice();
      // When the plugin stops, there is no time to wait for the removal.
      if (!turn.signal.aborted) await tidied;
      await stopTyping?.();
    }
  };

  /** Answers the turns. Resolves with those that still need an answer after others of the batch were withdrawn. */
  const attempt = async (turns: readonly [...Turn[], Turn]): Promise<readonly Turn[]> => {
    const earlier = turns.slice(0, -1).map(asEdited);
    const turn = { ...asEdited(turns[turns.length - 1] ?? turns[0]), earlier };
    const stopping = () => turns.some(({ signal }) => signal.aborted && turnEndOf(signal) === undefined);
    const limits = await settings
      .guild(turn.actor.guildId)
      .get()
      .catch(() => settings.guild(null).get());
    // Checked only here, because the plugin's signal hands over waiting turns before it aborts their own signals.
    if (stopping()) return replyToAll(turns, stopped(), log);
    const signals = turns.map(({ signal }) => signal);
    const deadline = createDeadline(clock, limits.deadlineSeconds * 1_000 + AFTER_DEADLINE_MS, signals);
    const late = outOfTime(limits.deadlineSeconds);
    /** Why the signal has aborted; errors after that are consequences. */
    const whyEnded = () => {
      if (stopping()) return stopped();
      return deadline.isUp ? late : undefined;
    };
    let sentence: string | undefined;
    try {
      if (await respond(turn, limits, deadline)) return [];
      sentence = whyEnded();
    } catch (error) {
      sentence = whyEnded();
      const isExpected = sentence !== undefined || !turns.every(isWanted) || !isForOperators(error);
      const where = { turnId: turn.id, earlier: earlier.length, channelId: turn.channel.id };
      log[isExpected ? 'info' : 'error']('a turn was not answered', { ...where, error });
      if (turns.every(isWanted)) sentence ??= sentenceOf(error, turn.id) ?? withReference(failure(), turn.id);
    } finally {
      deadline.end();
    }
    if (sentence === undefined && !turns.every(isWanted)) return turns.filter(isWanted);
    const end = sentence ?? failure();
    note(turns, end);
    return replyToAll(turns.filter(isWanted), end, log);
  };

  const attemptInTheirLanguage = (turns: readonly [...Turn[], Turn]) =>
    languages.speak(audienceOf(turns), () => attempt(turns));

  return {
    async takesBatches(turn: Turn): Promise<boolean> {
      return infoOf(await responderFor(turn), turn)?.batches === true;
    },
    async answer(turns: readonly [...Turn[], Turn]): Promise<void> {
      for (let left: readonly Turn[] = turns; isSome(left); ) left = await attemptInTheirLanguage(left);
      const ended = turns.filter(({ message, signal }) => message === null && turnEndOf(signal) === 'stopped');
      await replyToAll(ended, ending(), log);
    },
  };
}

/** The language of an answer: several members are answered in that of their server. */
function audienceOf([{ actor }, ...others]: readonly [...Turn[], Turn]): Audience {
  const { guildId, userId } = actor;
  return others.every((other) => other.actor.userId === userId) ? { guildId, userId } : { guildId };
}

function isWanted({ signal }: Turn): boolean {
  return turnEndOf(signal) === undefined;
}

function isSome(turns: readonly Turn[]): turns is readonly [...Turn[], Turn] {
  return turns.length > 0;
}

function outOfTime(seconds: number): string {
  return t('I could not answer this within {seconds} s, so I gave up. Please ask again.', { seconds });
}

/** Replies once to each member who asked. Turns that were not requested get no reply. */
async function replyToAll(turns: readonly Turn[], sentence: string, log: Registrar['log']): Promise<[]> {
  const asked = turns.filter(({ trigger }) => trigger !== 'random');
  const newest = new Map(asked.map((turn) => [turn.actor.userId, turn]));
  for (const turn of newest.values()) {
    try {
      await turn.reply({ content: sentence, notice: true });
    } catch (error) {
      log.warn('the reply to a turn that was not answered could not be sent', { turnId: turn.id, error });
    }
  }
  return [];
}

/** The turn with the current text of its message, which may have been edited while it waited. */
function asEdited(turn: Turn): Turn {
  const { message, trigger } = turn;
  if (message === null || message.editedTimestamp === null || trigger === 'command') return turn;
  if (trigger === 'activate' || trigger === 'continue') return turn;
  return { ...turn, text: withoutMention(message.content, message.client.user.id) };
}
