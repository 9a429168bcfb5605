import type { Entry, Line, Parcel } from './book.js';

/** What cannot be waited for any longer, of one agent in one channel. */
export interface Expired {
  readonly parcels: readonly Parcel[];
  readonly entries: readonly Entry[];
}

/** Which channels wait for agents that do not answer, and since when. */
export interface Holds {
  /** Notes which of the channel's agents do not answer at the moment. */
  note(channelId: string, agents: readonly string[], now: number): void;
  /** What has waited for one of them for longer than anybody has patience. `undefined` when there is nothing. */
  expired(line: Line, now: number): Expired | undefined;
  channels(): readonly string[];
}

export function createHolds(patienceMs: number): Holds {
  const held = new Map<string, ReadonlyMap<string, number>>();
  return {
    note(channelId, agents, now) {
      const before = held.get(channelId);
      if (agents.length === 0) held.delete(channelId);
      else held.set(channelId, new Map(agents.map((agent) => [agent, before?.get(agent) ?? now])));
    },
    expired({ channelId, parcels, waiting }, now) {
      for (const [agent, since] of held.get(channelId) ?? []) {
        const isOver = ({ at, event }: Entry) => event.agent === agent && Math.max(at, since) + patienceMs <= now;
        const over = {
          parcels: parcels.filter(({ entries }) => entries.some(isOver)),
          entries: waiting.filter(isOver),
        };
        if (over.parcels.length > 0 || over.entries.length > 0) return over;
      }
      return undefined;
    },
    channels: () => [...held.keys()],
  };
}
