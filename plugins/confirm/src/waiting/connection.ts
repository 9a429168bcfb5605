import type { Clock, Registrar } from '@cinnabar/sdk';

/** When the bot was cut off from Discord's gateway, and so could not learn in time what members pressed. */
export interface Connection {
  /** Whether it was cut off at that moment, in ms since the epoch; of those that are over, only the latest time is known. */
  wasDown(at: number): boolean;
}

/** @param onLost called when Discord will not tell any more what happened meanwhile: the session was lost */
export function watchConnection(on: Registrar['on'], clock: Clock, onLost: () => unknown): Connection {
  const downSince = new Map<number, number>();
  let latest = { from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY };
  const isBack = (shardId: number): boolean => {
    const from = downSince.get(shardId);
    downSince.delete(shardId);
    if (from !== undefined) latest = { from, to: clock.now() };
    return from !== undefined;
  };
  on('shardReconnecting', (shardId) => {
    if (!downSince.has(shardId)) downSince.set(shardId, clock.now());
  });
  on('shardResume', (shardId) => void isBack(shardId));
  on('shardReady', (shardId) => (isBack(shardId) ? onLost() : undefined));
  return {
    wasDown: (at) => (latest.from <= at && at <= latest.to) || [...downSince.values()].some((since) => since <= at),
  };
}
