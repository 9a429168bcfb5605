import type { Clock } from '@cinnabar/sdk';

/** Events of a guild that were given up because too many waited. */
export interface Drop {
  readonly guildId: string | null;
  /** Where the latest of them happened. */
  readonly channelId: string;
  /** How many since the last time that this was told. */
  readonly count: number;
}

export interface Drops {
  note(guildId: string | null, channelId: string, count: number): void;
  /** Since this process started. */
  total(guildId: string | null): number;
  stop(): void;
}

/** Tells of the first drop at once, and of those that follow together, once in `everyMs`. Each person's direct messages count by themselves. */
export function createDrops(clock: Clock, everyMs: number, tell: (drop: Drop) => unknown): Drops {
  const totals = new Map<string | null, number>();
  /** Those of whom was told lately, with what has happened since. */
  const quiet = new Map<string, { since: Drop | undefined; readonly stopTimer: () => void }>();

  const say = (group: string, drop: Drop) => {
    const stopTimer = clock.after(everyMs, () => {
      const since = quiet.get(group)?.since;
      quiet.delete(group);
      if (since !== undefined) say(group, since);
    });
    quiet.set(group, { since: undefined, stopTimer });
    tell(drop);
  };

  return {
    note(guildId, channelId, count) {
      totals.set(guildId, (totals.get(guildId) ?? 0) + count);
      const group = guildId ?? channelId;
      const lately = quiet.get(group);
      if (lately === undefined) say(group, { guildId, channelId, count });
      else lately.since = { guildId, channelId, count: count + (lately.since?.count ?? 0) };
    },
    total: (guildId) => totals.get(guildId) ?? 0,
    stop() {
      for (const { stopTimer } of quiet.values()) stopTimer();
      quiet.clear();
    },
  };
}
