import { setImmediate } from 'node:timers/promises';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import type { APIGatewayBotInfo } from 'discord.js';
import { gatewayInformation, identifyLimits } from './harness.js';

const HOUR_MS = 60 * 60_000;

/** @param answers Discord's answers, in order; `undefined`: unreachable */
function limitsWith(...answers: readonly (number | undefined)[]) {
  const clock = createManualClock();
  const left = [...answers];
  let known: APIGatewayBotInfo | undefined;
  const ask = async () => {
    const remaining = left.shift();
    if (remaining === undefined) return undefined;
    known = {
      url: 'wss://gateway.example',
      shards: 1,
      session_start_limit: { total: 1_000, remaining, reset_after: 20 * HOUR_MS, max_concurrency: 1 },
    };
    return known;
  };
  const information = {
    async get() {
      const answer = known ?? (await ask());
      if (answer === undefined) throw new Error('Discord is away');
      return answer;
    },
    async refreshed() {
      return (await ask()) ?? information.get();
    },
    askAgain: ask,
  };
  return { clock, limits: identifyLimits(clock, information) };
}

/** Whether a promise has resolved. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  return done;
}

describe('Discord’s information about its gateway', () => {
  it('is asked for once by shards that ask at the same time, and again afterwards', async () => {
    let asked = 0;
    const information = gatewayInformation(async () => {
      asked += 1;
      await setImmediate();
      return { url: `wss://${asked}.example` };
    });
    const urls = async (shards: number) =>
      (await Promise.all(Array.from({ length: shards }, information.refreshed))).map(({ url }) => url);
    expect(new Set(await urls(16))).to.deep.equal(new Set(['wss://1.example']));
    expect(await urls(1)).to.deep.equal(['wss://2.example']);
  });
});

describe('the limits on opening sessions', () => {
  it('let shards identify five seconds apart', async () => {
    const { clock, limits } = limitsWith(1_000);
    const { signal } = new AbortController();
    expect(await limits.turn(0, signal)).to.equal(true);
    const second = limits.turn(1, signal);
    const third = limits.turn(2, signal);
    expect(await isDone(second)).to.equal(false);
    clock.advance(5_000);
    expect([await isDone(second), await isDone(third)]).to.deep.equal([true, false]);
    clock.advance(5_000);
    expect(await isDone(third)).to.equal(true);
  });

  it('give the turn of a connection that is lost to the next one', async () => {
    const { clock, limits } = limitsWith(1_000);
    await limits.turn(0, new AbortController().signal);
    for (let lost = 0; lost < 100; lost += 1) {
      const connection = new AbortController();
      const turn = limits.turn(1, connection.signal);
      await isDone(Promise.resolve());
      connection.abort();
      expect(await turn).to.equal(false);
    }
    const turn = limits.turn(1, new AbortController().signal);
    await isDone(turn);
    clock.advance(5_000);
    expect(await isDone(turn)).to.equal(true);
  });

  it('ask again soon when Discord is away at the moment when a new day begins', async () => {
    const { clock, limits } = limitsWith(0, undefined, 1_000);
    const permit = limits.permit(new AbortController().signal);
    await isDone(permit);
    clock.advance(20 * HOUR_MS);
    expect(await isDone(permit)).to.equal(false);
    clock.advance(60_000);
    expect(await isDone(permit)).to.equal(true);
  });
});
