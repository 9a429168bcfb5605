/** How many channels may be served side by side. */
export interface Bound {
  readonly total: number;
  /** Of one guild, so that one whose agent hangs does not hold them all. */
  readonly perGuild: number;
}

/** Whose turn it is: guild by guild, and within a guild channel by channel, so that nobody's many channels come before another's one. */
export interface Turns {
  /** The channel wants to be served. Until it has been, asking again changes nothing. */
  ask(guild: string, channelId: string): void;
  /** Takes the channel whose turn it is and counts it as being served. `undefined` when none is left or none may go. */
  take(): { readonly guild: string; readonly channelId: string } | undefined;
  /** A channel of this guild has been served. */
  release(guild: string): void;
}

export function createTurns(bound: () => Bound): Turns {
  /** Those that ask. Whoever comes first in a map or a set has waited longest. */
  const asking = new Map<string, Set<string>>();
  const served = new Map<string, number>();
  let total = 0;

  return {
    ask(guild, channelId) {
      const channels = asking.get(guild) ?? new Set();
      asking.set(guild, channels.add(channelId));
    },
    take() {
      const limit = bound();
      if (total >= limit.total) return undefined;
      for (const [guild, channels] of asking) {
        const running = served.get(guild) ?? 0;
        const [channelId] = channels;
        if (channelId === undefined || running >= limit.perGuild) continue;
        channels.delete(channelId);
        asking.delete(guild);
        if (channels.size > 0) asking.set(guild, channels);
        served.set(guild, running + 1);
        total += 1;
        return { guild, channelId };
      }
      return undefined;
    },
    release(guild) {
      const running = (served.get(guild) ?? 1) - 1;
      if (running === 0) served.delete(guild);
      else served.set(guild, running);
      total -= 1;
    },
  };
}
