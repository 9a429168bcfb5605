/** How many channels may be served side by side. */
export interface Bound {
  readonly total: number;
  /** Of one guild, so that one whose agent hangs does not hold them all. */
  readonly perGuild: number;
}

/** Round robin over guilds, and within a guild over its channels: many channels of one guild do not come before one of another's. */
export interface FairScheduler {
  /** The channel is due. Until it has been taken, adding it again changes nothing. */
  add(guild: string, channelId: string): void;
  /** Takes the next channel and counts it as being served. `undefined` when none is due, or the bound is reached. */
  take(): { readonly guild: string; readonly channelId: string } | undefined;
  /** A channel of this guild is not served any more. */
  release(guild: string): void;
}

export function createFairScheduler(bound: () => Bound): FairScheduler {
  /** Due channels by guild. The first of a map or a set has waited longest. */
  const due = new Map<string, Set<string>>();
  const serving = new Map<string, number>();
  let total = 0;

  return {
    add(guild, channelId) {
      const channels = due.get(guild) ?? new Set();
      due.set(guild, channels.add(channelId));
    },
    take() {
      const limit = bound();
      if (total >= limit.total) return undefined;
      for (const [guild, channels] of due) {
        const running = serving.get(guild) ?? 0;
        const [channelId] = channels;
        if (channelId === undefined || running >= limit.perGuild) continue;
        channels.delete(channelId);
        due.delete(guild);
        if (channels.size > 0) due.set(guild, channels);
        serving.set(guild, running + 1);
        total += 1;
        return { guild, channelId };
      }
      return undefined;
    },
    release(guild) {
      const running = (serving.get(guild) ?? 1) - 1;
      if (running === 0) serving.delete(guild);
      else serving.set(guild, running);
      total -= 1;
    },
  };
}
