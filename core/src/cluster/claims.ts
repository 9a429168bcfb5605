import {
  type Clock,
  createKeyedMutex,
  diskTroubleOf,
  isTransient,
  isUnknown,
  type Logger,
  mayRefer,
  retryDiscord,
  sendOnce,
  sleep,
  t,
  z,
} from '@cinnabar/sdk';
import {
  type Client,
  DiscordAPIError,
  type Interaction,
  type Message,
  MessageFlags,
  Routes,
  type SendableChannels,
} from 'discord.js';
import { ANSWER_PAUSES_MS } from '../commands/answers.js';
import type { LanguageService } from '../languages/languages.js';
import type { Database } from '../storage/drivers/postgres/database.js';
import type { WriteLease } from '../storage/drivers/postgres/writer.js';
import type { Lease } from './assignment.js';

/** An event with a request by a member: a message, or an interaction. */
interface Claimed {
  readonly id: string;
  readonly guildId: string | null;
  readonly channelId: string | null;
  readonly userId: string;
  /** For a slash command: the token for its answer. */
  readonly interactionToken?: string | undefined;
}

export function claimed(interaction: Interaction): Claimed {
  const { id, guildId, channelId, user, token } = interaction;
  // The answer to a button may be the message with the button, which exists in any case.
  return {
    id,
    guildId,
    channelId,
    userId: user.id,
    ...(interaction.isChatInputCommand() ? { interactionToken: token } : {}),
  };
}

/**
 * Idempotency key of an answer to a message; `serial` starts at 1. The next holder reports an interrupted command under the key of its first answer, so that
 * Discord accepts only one of the two when a stopped process resumes.
 */
export const answerKey = (messageId: string, serial: number): string => `command:${messageId}:${serial}`;

/** One process executes each event, once, although Discord may send the event to the next holder again. */
export interface Claims {
  /** Runs the task unless the event was claimed before. A task that ends `unanswered` is left to the next holder, which notifies the member. */
  run(asked: Claimed, task: () => Answered | Promise<Answered>): Promise<void>;
}

/** Whether the member got an answer to their request; a refusal is an answer. */
export type Answered = 'answered' | 'unanswered';

/** Claims of a bot with one process: Discord sends it no event twice. */
export const NO_CLAIMS: Claims = {
  async run(_asked, task) {
    await task();
  },
};

/** Claims in the database, and the claims that former holders of the group did not finish. */
export interface SharedClaims extends Claims {
  /** Registers an event that will be claimed once `reading` (its server's state) has resolved. */
  follows(reading: Promise<unknown>): void;
  /** Resolves once all events so far are claimed: if an event counted as handled before that, it could be lost with the process. */
  begun(): Promise<void>;
  /** Claims of earlier processes for this group that are not finished. Each remains in the result until `finish`. */
  unfinished(): Promise<readonly Claimed[]>;
  /** Called when the member has got an answer. Never rejects. */
  finish(asked: Claimed): Promise<void>;
}

/** Discord does not resend an event that is older than this. */
const KEPT = "interval '1 day'";
/** Pause before a claim is retried that could not be written to the database. */
const RETRY_MS = 500;
/** Old claims are deleted with every 200th claim: a group may stay with one process for months. */
const SWEPT_AFTER = 200;

export function createClaims(
  database: Pick<Database, 'schema' | 'query' | 'writer'>,
  lease: WriteLease & Pick<Lease, 'lost'>,
  clock: Clock,
  log: Logger,
): SharedClaims {
  const claims = `${database.schema}.claims`;
  const { write } = database.writer(lease);
  const mutex = createKeyedMutex();
  const beginning = new Set<Promise<unknown>>();
  const old = `old AS (DELETE FROM ${claims} USING fence WHERE group_number = ${lease.group} AND claimed_at < now() - ${KEPT}), `;
  let untilSwept = SWEPT_AFTER;

  /** @returns whether the event was not claimed before; `undefined` when the database is unreachable: commands that only read run then, too */
  const begin = async ({ id, guildId, channelId, userId, interactionToken }: Claimed): Promise<boolean | undefined> => {
    untilSwept = untilSwept === 0 ? SWEPT_AFTER : untilSwept - 1;
    try {
      const own = await write(
        `${untilSwept === 0 ? old : ''}done AS (INSERT INTO ${claims} (id, group_number, token, guild_id, channel_id, user_id, interaction_token)
           SELECT $1::bigint, ${lease.group}, ${lease.token}, $2::bigint, $3::bigint, $4::bigint, $5 FROM fence
           ON CONFLICT (id) DO NOTHING RETURNING id AS result)`,
        [id, guildId, channelId, userId, interactionToken ?? null],
      );
      return own !== undefined;
    } catch (error) {
      if (diskTroubleOf(error) === undefined) throw error;
      return undefined;
    }
  };
  const finish = async ({ id }: Claimed) => {
    try {
      await write(
        `done AS (UPDATE ${claims} SET done_at = now(), interaction_token = NULL FROM fence WHERE id = $1 RETURNING id AS result)`,
        [id],
      );
    } catch (error) {
      log.debug('it could not be noted that something was done', { id, error });
    }
  };

  /** Retries a claim that could not be written: the next holder of the group notifies only members whose events are claimed. */
  const beginLater = async (asked: Claimed, hasAnswer: AbortSignal): Promise<boolean | undefined> => {
    while ((await sleep(clock, RETRY_MS, hasAnswer)) && !lease.lost.aborted) {
      const isOwn = await begin(asked);
      if (isOwn !== undefined) return isOwn;
    }
    return undefined;
  };
  const follows = (reading: Promise<unknown>) => {
    beginning.add(reading);
    const over = () => beginning.delete(reading);
    reading.then(over, over);
  };

  return {
    finish,
    async run(asked, task) {
      // Claims of one channel are made in the order of its messages.
      const first = mutex.run(asked.channelId ?? asked.userId, () => begin(asked));
      const hasAnswer = new AbortController();
      const claimed = first.then((isOwn) => isOwn ?? beginLater(asked, hasAnswer.signal));
      follows(claimed);
      if ((await first) === false) return;
      let answered: Answered = 'answered';
      try {
        answered = await task();
      } finally {
        if (answered === 'answered') {
          hasAnswer.abort();
          if ((await claimed.catch(() => undefined)) === true) await finish(asked);
        }
      }
    },
    follows,
    async begun() {
      await Promise.allSettled(beginning);
      // Claims that begin when a read has ended.
      await Promise.allSettled(beginning);
    },
    async unfinished() {
      const rows = await write(
        `${old}done AS (SELECT coalesce(json_agg(one), '[]') AS result FROM (
           SELECT id::text, guild_id::text, channel_id::text, user_id::text, interaction_token FROM ${claims}, fence
           WHERE group_number = ${lease.group} AND token < ${lease.token} AND done_at IS NULL AND claimed_at >= now() - ${KEPT}) AS one)`,
        [],
      );
      const found: readonly Record<string, unknown>[] = JSON.parse(rows ?? '[]');
      return found.map((row) => ({
        id: String(row.id),
        guildId: row.guild_id === null ? null : String(row.guild_id),
        channelId: row.channel_id === null ? null : String(row.channel_id),
        userId: String(row.user_id),
        interactionToken: typeof row.interaction_token === 'string' ? row.interaction_token : undefined,
      }));
    },
  };
}

/** Number of the bot's messages that are searched for an answer. */
const LOOKED_THROUGH = 50;

/** Notifies members whose commands were interrupted by the end of a process, unless an answer exists. */
export async function tellUnfinished(options: {
  readonly claims: SharedClaims;
  readonly client: Client;
  readonly languages: Pick<LanguageService, 'serve'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when the host stops. */
  readonly signal: AbortSignal;
}): Promise<void> {
  const { claims, client, languages, clock, log, signal } = options;
  const sentence = (userId: string) =>
    t(
      '{user}, I was interrupted while I worked on this, and I cannot say whether it was done. Please have a look, and try again if it was not.',
      { user: `<@${userId}>` },
    );
  const tell = async (one: Claimed) => {
    const { id, guildId, channelId, userId } = one;
    const inTheirLanguage = <T>(task: () => Promise<T>) => languages.serve({ guildId, userId }, undefined, task);
    if (await inTheirLanguage(() => fillDeferral(client, one, sentence))) return;
    const channel = channelId === null ? null : await client.channels.fetch(channelId);
    if (channel?.isSendable() !== true || (await isAnswered(channel, id))) return;
    await inTheirLanguage(() =>
      sendOnce(
        channel,
        {
          content: sentence(userId),
          allowedMentions: { users: [userId] },
          ...(mayRefer(channel) ? { reply: { messageReference: id, failIfNotExists: false } } : {}),
        },
        answerKey(id, 1),
        { clock, signal, pausesMs: [] },
      ),
    );
  };
  const tellPatiently = async (one: Claimed) => {
    try {
      // `tell` searches for an answer first, so it can be repeated.
      await retryDiscord(clock, () => tell(one), { signal, pausesMs: ANSWER_PAUSES_MS });
    } catch (error) {
      // The claim stays unfinished, so that the next holder notifies the member.
      if (isTransient(error)) return;
      if (!isUnknown(error))
        log.warn('a member could not be told that their command was interrupted', { id: one.id, error });
    }
    await claims.finish(one);
  };
  await Promise.all((await claims.unfinished()).map(tellPatiently));
}

/**
 * Replaces "… is thinking" with the sentence; the former process can no longer edit it.
 * @returns whether the interaction is answered, by this sentence or by an earlier answer
 */
async function fillDeferral(
  { rest, application }: Client,
  { interactionToken, userId }: Claimed,
  sentence: (userId: string) => string,
): Promise<boolean> {
  if (interactionToken === undefined || application === null) return false;
  const route = Routes.webhookMessage(application.id, interactionToken);
  const present = z.object({ flags: z.number().default(0) }).safeParse(
    await rest.get(route).catch((error: unknown) => {
      // The interaction was never acknowledged, or its token has expired: Discord shows the member that it failed.
      if (error instanceof DiscordAPIError && error.status < 500) return undefined;
      throw error;
    }),
  );
  if (!present.success) return false;
  if ((present.data.flags & MessageFlags.Loading) !== 0)
    await rest.patch(route, { body: { content: sentence(userId), allowed_mentions: { parse: [] } } });
  return true;
}

/** Whether the bot's messages include a reply to the message, or an answer to the interaction. */
async function isAnswered(channel: SendableChannels, id: string): Promise<boolean> {
  const own = channel.client.user?.id;
  const after = await channel.messages.fetch({ after: id, limit: LOOKED_THROUGH });
  const isAnswer = (message: Message) =>
    message.author.id === own &&
    !message.flags.has(MessageFlags.Loading) &&
    (message.reference?.messageId === id || message.interactionMetadata?.id === id);
  return after.some(isAnswer);
}
