import type { Clock, FrontDoor, Logger } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { arrivalOf } from './arrival.js';
import type { Take } from './intake.js';
import { responderIn } from './routing.js';
import type { AiSettings } from './settings.js';

export interface FrontDoorParts {
  readonly settings: AiSettings;
  readonly client: Client;
  readonly clock: Clock;
  readonly take: Take;
  /** Aborts when `ai` stops. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Lets responders hand in messages that are for them. */
export function createFrontDoor({ settings, client, clock, take, signal, log }: FrontDoorParts): FrontDoor {
  const whoAnswers = (guildId: string | null, channelId: string) => {
    const channel = client.channels.cache.get(channelId);
    const parentId = channel?.isThread() === true ? channel.parentId : null;
    return responderIn(settings, guildId, parentId === null ? [channelId] : [channelId, parentId]);
  };
  return {
    responderIn: async (guildId, channelId) => (await whoAnswers(guildId, channelId)).responder,
    async take(message, { trigger, responder, text }) {
      const { guildId, channelId } = message;
      if ((await whoAnswers(guildId, channelId)).responder !== responder) return false;
      const botId = client.user?.id;
      const arrival = botId === undefined ? undefined : arrivalOf(message, trigger, botId, { clock, signal });
      if (arrival === undefined) {
        log.debug('not answered: the bot may not write there', { channelId, trigger });
        return false;
      }
      return take(text === undefined ? arrival : { ...arrival, text });
    },
  };
}
