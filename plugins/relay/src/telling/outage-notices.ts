import type { Clock, Logger } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { type TargetParts, targetOf } from '../agents/target.js';
import type { Breakers } from '../resilience/breakers.js';
import type { RelayEvent } from '../types.js';
import { isAsked } from './asked.js';
import { sayAt } from './say.js';

const AGAIN_MS = 10 * 60_000;
const MOST_MEMBERS = 10_000;

export interface OutageParts extends TargetParts {
  readonly breakers: Breakers;
  readonly worldName: (agentId: string) => Promise<string>;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** All events that have not ended. */
  readonly pending: () => readonly RelayEvent[];
}

/** Tells members that their message waits for an agent that does not answer at the moment: each once in ten minutes. */
export interface OutageNotices {
  /** An event was taken. */
  taken(event: RelayEvent): Promise<void>;
  /** The breaker of an agent has opened: what waits for it waits longer. @param agent what names it in the whole world */
  opened(agent: string): Promise<void>;
}

export function createOutageNotices(parts: OutageParts): OutageNotices {
  const { breakers, worldName, clock, log, pending } = parts;
  const told = new Map<string, number>();

  /** Noted before it is said, so that several messages at once get one word. */
  const isDue = (userId: string): boolean => {
    const at = told.get(userId);
    if (at !== undefined && clock.now() - at < AGAIN_MS) return false;
    told.delete(userId);
    told.set(userId, clock.now());
    const [oldest] = told.keys();
    if (told.size > MOST_MEMBERS && oldest !== undefined) told.delete(oldest);
    return true;
  };

  const tell = async (event: RelayEvent, isOpen: (agent: string) => boolean): Promise<void> => {
    const { userId } = event;
    if (userId === null || !isAsked(event)) return;
    try {
      const target = await targetOf(event, parts);
      if (target === undefined || !isOpen(await worldName(target.agentId)) || !isDue(userId)) return;
      const sentence = `\`${target.name}\` does not answer at the moment. Your message is kept and tried again for ten minutes; you get a word if nothing comes of it.`;
      await sayAt(event, sentence, `outage:${event.id}`, parts);
    } catch (error) {
      log.info('a member could not be told of an outage', { channelId: event.channelId, error });
    }
  };

  return {
    taken: (event) => tell(event, (agent) => breakers.for(agent).admitsAt > clock.now()),
    async opened(opened) {
      for (const event of pending()) await tell(event, (agent) => agent === opened);
    },
  };
}
