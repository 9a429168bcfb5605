import type { Clock, FrontDoor, Logger } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { arrivalOf } from './arrival.js';
import type { Claims } from './claims.js';
import type { Take } from './intake.js';
import { responderIn, routeOf } from './routing.js';
import { type AiSettings, answerLimitsOf } from './settings.js';

export interface FrontDoorParts {
  readonly settings: AiSettings;
  readonly client: Client;
  readonly clock: Clock;
  readonly take: Take;
  readonly claims: Claims;
  readonly withdrawals: Pick<FrontDoor, 'stop' | 'isAnswering'>;
  /** Aborts when `ai` stops. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Lets responders hand in messages that are for them. */
export function createFrontDoor({
  settings,
  client,
  clock,
  take,
  claims,
  withdrawals,
  signal,
  log,
}: FrontDoorParts): FrontDoor {
  const limits = (guildId: string | null) => answerLimitsOf(settings, guildId);
  const whoAnswers = (guildId: string | null, channelId: string) => {
    const channel = client.channels.cache.get(channelId);
    return channel === undefined ? responderIn(settings, guildId, [channelId]) : routeOf(settings, channel, guildId);
  };
  return {
    claim: claims.add,
    stop: withdrawals.stop,
    isAnswering: withdrawals.isAnswering,
    responderIn: async (guildId, channelId) => (await whoAnswers(guildId, channelId)).responder,
    async take(message, { trigger, responder, text }) {
      const { guildId, channelId } = message;
      if (claims.holds(message)) return false;
      if ((await whoAnswers(guildId, channelId)).responder !== responder) return false;
      const botId = client.user?.id;
      const arrival = botId === undefined ? undefined : arrivalOf(message, trigger, botId, { clock, signal, limits });
      if (arrival === undefined) {
        log.debug('not answered: the bot may not write there', { channelId, trigger });
        return false;
      }
      return take(text === undefined ? arrival : { ...arrival, text });
    },
  };
}
