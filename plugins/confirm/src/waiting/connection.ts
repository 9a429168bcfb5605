import type { Clock, Registrar } from '@cinnabar/sdk';

/** Outages of one shard that are remembered: cards are ended soon after their time, so the latest few are enough. */
const MOST_REMEMBERED = 20;

/** When the bot was cut off from Discord's gateway, and so could not learn in time what members pressed. */
export interface Connection {
  /** Whether the shard was cut off at that moment, in ms since the epoch. */
  wasDown(shardId: number, at: number): boolean;
}

interface Outage {
  readonly from: number;
  /** `Infinity` while it lasts. */
  readonly to: number;
}

/** @param onLost called when Discord will not tell any more what happened meanwhile: the session was lost */
export function watchConnection(on: Registrar['on'], clock: Clock, onLost: () => unknown): Connection {
  const outages = new Map<number, readonly Outage[]>();
  const isDown = (shardId: number) => outages.get(shardId)?.at(-1)?.to === Number.POSITIVE_INFINITY;
  const end = (shardId: number): boolean => {
    const last = outages.get(shardId)?.at(-1);
    if (last === undefined || !isDown(shardId)) return false;
    const ended = { from: last.from, to: clock.now() };
    outages.set(shardId, [...(outages.get(shardId)?.slice(0, -1) ?? []), ended]);
    return true;
  };
  on('shardReconnecting', (shardId) => {
    if (isDown(shardId)) return;
    const begun = { from: clock.now(), to: Number.POSITIVE_INFINITY };
    outages.set(shardId, [...(outages.get(shardId) ?? []), begun].slice(-MOST_REMEMBERED));
  });
  on('shardResume', (shardId) => void end(shardId));
  on('shardReady', (shardId) => (end(shardId) ? onLost() : undefined));
  return {
    wasDown: (shardId, at) => outages.get(shardId)?.some(({ from, to }) => from <= at && at <= to) === true,
  };
}
