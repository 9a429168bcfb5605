import type { Clock, Logger } from '@cinnabar/sdk';
import { type Bound, createTurns } from './turns.js';

/** What is to become of a channel that has been served. */
export type Next =
  | { readonly is: 'again' }
  /** In milliseconds since the Unix epoch; `Infinity` until somebody wakes it. */
  | { readonly is: 'wait'; readonly until: number }
  /** There is nothing to do for it. */
  | { readonly is: 'rest' };

/** Serves channels: one thing at a time for each, several channels side by side. */
export interface Schedule {
  /** There may be something to do for the channel, whatever it waits for. Never missed: one that is being served is served again. */
  wake(guild: string, channelId: string): void;
  /** The same for all that wait. */
  wakeAll(): void;
  /** No channel is served from now on. Resolves when none is being served. */
  stop(): Promise<void>;
}

export interface ScheduleOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly bound: () => Bound;
  readonly serve: (channelId: string) => Promise<Next>;
}

interface Berth {
  readonly guild: string;
  state: 'asking' | 'served' | 'waiting';
  /** Somebody woke it while it was being served. */
  woken: boolean;
  stopTimer: () => void;
}

/** What could not be served for a reason of the host's own, such as settings that cannot be read, is tried again after this. */
const AFTER_TROUBLE_MS = 5_000;
const nothing = () => undefined;

export function createSchedule({ clock, log, bound, serve }: ScheduleOptions): Schedule {
  const turns = createTurns(bound);
  const berths = new Map<string, Berth>();
  const running = new Set<Promise<void>>();
  let stopped = false;

  const ask = (channelId: string, berth: Berth) => {
    berth.stopTimer();
    berth.stopTimer = nothing;
    berth.state = 'asking';
    turns.ask(berth.guild, channelId);
  };

  const settle = (channelId: string, berth: Berth, next: Next) => {
    if (next.is === 'again' || berth.woken) return ask(channelId, berth);
    if (next.is === 'rest') return berths.delete(channelId);
    berth.state = 'waiting';
    if (next.until === Number.POSITIVE_INFINITY) return;
    berth.stopTimer = clock.after(Math.max(0, next.until - clock.now()), () => {
      ask(channelId, berth);
      pump();
    });
  };

  const serveOne = async (channelId: string, berth: Berth) => {
    berth.state = 'served';
    berth.woken = false;
    const next = await serve(channelId).catch((error: unknown): Next => {
      log.error('a channel of the relay could not be served', { channelId, error });
      return { is: 'wait', until: clock.now() + AFTER_TROUBLE_MS };
    });
    turns.release(berth.guild);
    if (stopped) return;
    settle(channelId, berth, next);
    pump();
  };

  const pump = () => {
    for (let turn = turns.take(); turn !== undefined; turn = turns.take()) {
      const berth = berths.get(turn.channelId);
      if (berth === undefined) turns.release(turn.guild);
      else {
        const served = serveOne(turn.channelId, berth).finally(() => running.delete(served));
        running.add(served);
      }
    }
  };

  const rouse = (channelId: string, berth: Berth) => {
    if (berth.state === 'served') berth.woken = true;
    else if (berth.state === 'waiting') ask(channelId, berth);
  };

  return {
    wake(guild, channelId) {
      if (stopped) return;
      const berth = berths.get(channelId) ?? { guild, state: 'waiting', woken: false, stopTimer: nothing };
      berths.set(channelId, berth);
      rouse(channelId, berth);
      pump();
    },
    wakeAll() {
      if (stopped) return;
      for (const [channelId, berth] of berths) rouse(channelId, berth);
      pump();
    },
    async stop() {
      stopped = true;
      for (const { stopTimer } of berths.values()) stopTimer();
      await Promise.all(running);
    },
  };
}
