import { watchOutages } from '@cinnabar/plugin-confirm/dist/decisions.js';
import type { Registrar } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import fc from 'fast-check';

const SHARDS = 3;

/** Emits events of shards. */
function emitter() {
  const listeners = new Map<unknown, (shardId: number) => unknown>();
  const on: Registrar['on'] = (event, handler) => {
    listeners.set(event, (shardId) => Reflect.apply(handler, undefined, [shardId]));
    return async () => undefined;
  };
  return { on, emit: (event: string, shardId: number) => void listeners.get(event)?.(shardId) };
}

const step = fc.record({
  shard: fc.nat(SHARDS - 1),
  event: fc.constantFrom('shardReconnecting', 'shardResume', 'shardReady'),
  afterMs: fc.integer({ min: 1, max: 60_000 }),
});

describe('the outages of shards', () => {
  it('are remembered each by itself, not only the latest of any', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const clock = createManualClock();
        const { on, emit } = emitter();
        const connection = watchOutages(on, clock, () => undefined);
        const down = new Set<number>();
        const moments: { readonly at: number; readonly down: ReadonlySet<number> }[] = [];
        for (const { shard, event, afterMs } of steps) {
          emit(event, shard);
          if (event === 'shardReconnecting') down.add(shard);
          else down.delete(shard);
          clock.advance(1);
          moments.push({ at: clock.now(), down: new Set(down) });
          clock.advance(afterMs);
        }
        for (const moment of moments)
          for (let shard = 0; shard < SHARDS; shard += 1)
            expect(connection.wasDown(shard, moment.at), `${shard} at ${moment.at}`).to.equal(moment.down.has(shard));
      }),
      { numRuns: 100 },
    );
  });
});
