import {
  asNotice,
  type Clock,
  doublingPauses,
  isForbidden,
  isTransient,
  isUnreachable,
  type Logger,
  type ReplyBody,
  retryDiscord,
  sendOnce,
} from '@cinnabar/sdk';
import {
  type ChatInputCommandInteraction,
  DiscordAPIError,
  type Message,
  MessageFlags,
  RESTJSONErrorCodes,
  type SendableChannels,
} from 'discord.js';
import { LRUCache } from 'lru-cache';
import { type Answers, asBody, type Part, partsOf } from './answers.js';
import { ANSWER_PAUSES_MS } from './prefix.js';

/** Discord takes the first answer within 3 s, and others for 15 minutes (https://discord.com/developers/docs/interactions/receiving-and-responding). */
const FIRST_WITHIN_MS = 3_000;
const TOKEN_LIVES_MS = 15 * 60_000;
/** Leaves a second of the three for the request. */
const AUTO_DEFER_MS = 2_000;

interface Parts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly lost: LostAnswers;
  /** Aborts when the command's plugin stops: nothing is tried again then. */
  readonly signal: AbortSignal;
  /** Whether answers are for the caller alone unless they say otherwise. */
  readonly ephemeral: boolean;
}

/**
 * Answers to a slash command: defers by itself when nothing was said in time; the first answer fills the deferral, others follow up. Where
 * Discord fails, an answer is tried again for as long as the interaction lives, and afterwards given in the channel, or, when it is for the
 * caller alone, in a direct message.
 */
export function answerInteraction(
  interaction: ChatInputCommandInteraction,
  { clock, log, lost, signal, ephemeral }: Parts,
): Answers {
  const receivedAt = clock.now();
  let filled = false;
  /** Discord does not know the interaction (any more): what there is to say goes another way. */
  let over = false;
  let serial = 0;
  /** The messages that the answers became. */
  const given = new Set<string>();
  /** Channels in which late answers have been introduced. */
  const introduced = new Set<string>();
  /** What the caller reads whose private answer cannot be given anywhere. */
  let withheld: Message | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  /** One after another: an answer never overtakes the deferral that is under way. */
  const inTurn = <T>(task: () => Promise<T>): Promise<T> => {
    const turn = queue.then(() => lost.attempt(interaction.channelId, task));
    queue = turn.catch(() => undefined);
    return turn;
  };

  const flags = (hidden: boolean) => (hidden ? ({ flags: MessageFlags.Ephemeral } as const) : {});

  /** The first answer. Resolves with `false` when an attempt whose answer got lost, or was late, has been one already. */
  const acknowledge = async (request: () => Promise<unknown>): Promise<boolean> => {
    const left = receivedAt + FIRST_WITHIN_MS - clock.now();
    try {
      await retryDiscord(clock, request, { signal, pausesMs: doublingPauses(250, 1_000, left) });
      return true;
    } catch (error) {
      if (!isAcknowledged(error)) throw error;
      return false;
    }
  };
  /** Everything after it, while the token lives. */
  const patiently = <T>(request: () => Promise<T>) => {
    const left = receivedAt + TOKEN_LIVES_MS - clock.now();
    return retryDiscord(clock, request, { signal, pausesMs: doublingPauses(1_000, 30_000, left) });
  };

  const deferNow = () =>
    inTurn(async () => {
      if (over || interaction.deferred || interaction.replied) return;
      try {
        if (await acknowledge(() => interaction.deferReply(flags(ephemeral)))) return;
        interaction.deferred = true;
        interaction.ephemeral = ephemeral;
      } catch (error) {
        if (!isUnsayable(error) && !isTransient(error)) throw error;
        over = true;
        log.info('a slash command could not be acknowledged in time', { command: interaction.commandName, error });
      }
    });

  const stopWaiting = clock.after(AUTO_DEFER_MS, () => {
    deferNow().catch((error: unknown) =>
      log.warn('a slash command could not be deferred', { command: interaction.commandName, error }),
    );
  });

  const respond = async (part: Part, hidden: boolean): Promise<Message> => {
    let sent: Message | null | undefined;
    const isFirst = await acknowledge(async () => {
      const response = await interaction.reply({ ...part, ...flags(hidden), withResponse: true });
      sent = response.resource?.message;
    });
    if (!isFirst) {
      interaction.replied = true;
      interaction.ephemeral = hidden;
    }
    return sent ?? patiently(() => interaction.fetchReply());
  };

  /** An answer whose request failed although Discord had carried it out. Those for the caller alone are in no history. */
  const findFollowUp = async (part: Part): Promise<Message | undefined> => {
    try {
      const since = await interaction.channel?.messages.fetch({ after: interaction.id, limit: 100, cache: false });
      return since?.find(
        ({ id, content, interactionMetadata }) =>
          interactionMetadata?.id === interaction.id && content === (part.content ?? '').trim() && !given.has(id),
      );
    } catch (error) {
      // Slash commands are also used where the bot may not read.
      if (isForbidden(error)) return undefined;
      throw error;
    }
  };
  /** Discord compares no nonces here: before an answer is repeated, it is looked for. */
  const sendFollowUp = (part: Part, hidden: boolean): Promise<Message> => {
    let attempts = 0;
    return patiently(async () => {
      attempts += 1;
      const sent = attempts === 1 || hidden ? undefined : await findFollowUp(part);
      return sent ?? interaction.followUp({ ...part, ...flags(hidden) });
    });
  };

  const answer = (part: Part, hidden: boolean): Promise<Message> => {
    if (!interaction.replied && !interaction.deferred) return respond(part, hidden);
    const followUp = () => sendFollowUp(part, hidden);
    if (filled || !interaction.deferred) return followUp();
    filled = true;
    if (interaction.ephemeral === hidden) return patiently(() => interaction.editReply(part));
    // A deferral cannot change who sees it, so another message takes its place.
    return patiently(() => interaction.deleteReply()).then(followUp);
  };

  const send = async (part: Part, hidden: boolean): Promise<Message> => {
    stopWaiting();
    try {
      if (!over) {
        const message = await answer(part, hidden);
        given.add(message.id);
        return message;
      }
    } catch (error) {
      if (signal.aborted || !(isUnsayable(error) || isTransient(error))) throw error;
      over = true;
      log.info('a slash command is answered another way', { command: interaction.commandName, error });
    }
    return hidden ? sendPrivately(part) : sendInChannel(part);
  };

  const sendLate = async (channel: SendableChannels, part: Part): Promise<Message> => {
    const { user, commandName } = interaction;
    const allowedMentions = { parse: [], users: [user.id] };
    const post = (message: Part) => {
      const key = `command:${interaction.id}:${serial}`;
      serial += 1;
      return sendOnce(channel, { ...message, allowedMentions }, key, { clock, signal, pausesMs: ANSWER_PAUSES_MS });
    };
    // Nothing else shows whose command it was.
    if (!introduced.has(channel.id)) {
      await post({ content: asNotice(`<@${user.id}> \`/${commandName}\`:`), allowedMentions });
      introduced.add(channel.id);
    }
    return post(part);
  };

  const sendInChannel = async (part: Part): Promise<Message> => {
    const channel = await retryDiscord(clock, () => interaction.client.channels.fetch(interaction.channelId), {
      signal,
      pausesMs: ANSWER_PAUSES_MS,
    });
    if (channel?.isSendable() !== true) throw new Error('there is no way to answer a slash command late');
    return sendLate(channel, part);
  };

  const sendPrivately = async (part: Part): Promise<Message> => {
    if (withheld !== undefined) return withheld;
    try {
      const dm = await patiently(() => interaction.user.createDM());
      return await sendLate(dm, part);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      withheld = await sendInChannel({
        content: asNotice('Discord did not take my answer in time. It was for you alone, so I do not repeat it here.'),
        allowedMentions: { parse: [] },
      });
      return withheld;
    }
  };

  const say = (body: ReplyBody, hidden: boolean) => {
    // What only the caller sees is in no history.
    const [first, ...others] = partsOf(hidden ? { ...body, notice: false } : body, interaction.user.id);
    return inTurn(async () => {
      let last = await send(first, hidden);
      for (const part of others) last = await send(part, hidden);
      return last;
    });
  };

  return {
    reply(reply) {
      const body = asBody(reply);
      return say(body, body.ephemeral ?? ephemeral);
    },
    defer: deferNow,
    async refuse(sentence) {
      await say({ content: sentence }, true);
    },
    async finish() {
      await queue;
      if (!filled && !interaction.replied && serial === 0) await say({ content: 'Done.' }, true);
    },
    close: stopWaiting,
  };
}

/** Discord has had an answer to the interaction: one whose own answer did not come through. */
const isAcknowledged = (error: unknown): boolean =>
  error instanceof DiscordAPIError && error.code === RESTJSONErrorCodes.InteractionHasAlreadyBeenAcknowledged;

/** Channels of which it is remembered that the log already says so. */
const REMEMBERED = 1000;

/** An answer that could not be given. It passes through the command's code, so it must not be taken for an error of its own. */
export class AnswerLost extends Error {
  constructor(cause: unknown) {
    super(`The answer could not be given: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'AnswerLost';
  }
}

/** Keeps the log from filling with answers that cannot be given. */
export interface LostAnswers {
  /** Sends, and remembers that it worked. @throws AnswerLost when Discord does not let the bot speak there, or has failed for too long */
  attempt<T>(channelId: string, send: () => Promise<T>): Promise<T>;
  /** Logs an `AnswerLost` the first time in a row for that channel. */
  report(channelId: string, error: AnswerLost): void;
}

export function createLostAnswers(log: Logger): LostAnswers {
  const silent = new LRUCache<string, true>({ max: REMEMBERED });
  return {
    async attempt(channelId, send) {
      try {
        const sent = await send();
        silent.delete(channelId);
        return sent;
      } catch (error) {
        throw isUnsayable(error) || isTransient(error) ? new AnswerLost(error) : error;
      }
    },
    report(channelId, error) {
      if (silent.has(channelId)) return;
      silent.set(channelId, true);
      log.warn('the bot cannot answer commands in this channel', { channelId, error });
    },
  };
}

/** Whether nothing can be said there (any more): no such place or interaction, no right to speak, a token that has run out. */
function isUnsayable(error: unknown): boolean {
  if (isUnreachable(error)) return true;
  return error instanceof DiscordAPIError && error.code === RESTJSONErrorCodes.InvalidWebhookToken;
}
