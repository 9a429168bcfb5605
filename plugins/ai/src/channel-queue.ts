/** Turns of one channel follow one another; channels do not wait for each other. */
export interface ChannelQueue {
  /** How many wait in the channel, beside the one under way. */
  waiting(channelId: string): number;
  /** Runs `task` after those before it. `false` when more than `maxWaiting` would wait: nothing is run then. */
  run(channelId: string, maxWaiting: number, task: () => Promise<void>): Promise<boolean>;
}

interface Line {
  last: Promise<void>;
  length: number;
}

export function createChannelQueue(): ChannelQueue {
  const lines = new Map<string, Line>();
  const waiting = (channelId: string) => Math.max(0, (lines.get(channelId)?.length ?? 0) - 1);
  return {
    waiting,
    async run(channelId, maxWaiting, task) {
      const line = lines.get(channelId) ?? { last: Promise.resolve(), length: 0 };
      if (line.length > maxWaiting) return false;
      lines.set(channelId, line);
      line.length += 1;
      const mine = line.last.then(task).finally(() => {
        line.length -= 1;
        if (line.length === 0) lines.delete(channelId);
      });
      line.last = mine.catch(() => undefined);
      await mine;
      return true;
    },
  };
}
