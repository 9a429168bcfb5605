import type { Actor, Clock } from '@cinnabar/sdk';

/** The people for whom a plugin from elsewhere may have tools called: those whose turns, commands, clicks and calls it was given lately. */
export interface Entrusted {
  give(actor: Actor): void;
  has(actor: Actor): boolean;
}

const KEPT_MS = 60 * 60_000;
const MOST = 5_000;

export function createEntrusted(clock: Pick<Clock, 'now'>): Entrusted {
  const given = new Map<string, number>();
  const keyOf = ({ userId, guildId, channelId, identity = '' }: Actor) =>
    JSON.stringify([userId, guildId, channelId, identity]);
  return {
    give(actor) {
      const key = keyOf(actor);
      // The latest is at the end.
      given.delete(key);
      given.set(key, clock.now());
      const [oldest] = given.keys();
      if (given.size > MOST && oldest !== undefined) given.delete(oldest);
    },
    has: (actor) => (given.get(keyOf(actor)) ?? Number.NEGATIVE_INFINITY) > clock.now() - KEPT_MS,
  };
}
