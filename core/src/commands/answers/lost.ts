import { isForbidden, isTransient, isUnknown, type Logger } from '@cinnabar/sdk';
import { DiscordAPIError, RESTJSONErrorCodes } from 'discord.js';
import { LRUCache } from 'lru-cache';

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
export function isUnsayable(error: unknown): boolean {
  if (isUnknown(error) || isForbidden(error)) return true;
  return error instanceof DiscordAPIError && error.code === RESTJSONErrorCodes.InvalidWebhookToken;
}
