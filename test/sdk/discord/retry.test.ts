import { type RetryOptions, retryDiscord } from '@cinnabar/sdk';
import { createManualClock, type ManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { DiscordAPIError, HTTPError, RequestMethod } from 'discord.js';

const method = RequestMethod.Get;

describe('retrying a request to Discord', () => {
  let clock: ManualClock;
  let attempts: number[];
  beforeEach(() => {
    clock = createManualClock(0);
    attempts = [];
  });

  const failing =
    (error: Error, times = Number.POSITIVE_INFINITY) =>
    async () => {
      attempts.push(clock.now());
      if (attempts.length <= times) throw error;
      return 'an answer';
    };
  const run = (task: () => Promise<string>, options: RetryOptions = {}) =>
    retryDiscord(clock, task, { pausesMs: [1_000, 2_000, 4_000, 8_000], ...options }).then(
      (value) => value,
      (error: unknown) => error,
    );
  const turns = async (count = 20) => {
    for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
  };
  const pass = async (ms: number) => {
    await turns();
    clock.advance(ms);
    await turns();
  };
  const broken = new HTTPError(502, 'Bad Gateway', method, 'https://discord.com', {});

  it('waits between its attempts as long as it is told to, then gives up with the last error', async () => {
    const result = run(failing(broken));
    for (let second = 0; second < 20; second += 1) await pass(1_000);
    expect(await result).to.equal(broken);
    expect(attempts).to.deep.equal([0, 1_000, 3_000, 7_000, 15_000]);
  });

  it('answers as soon as Discord does', async () => {
    const result = run(failing(broken, 2));
    await pass(1_000);
    await pass(2_000);
    expect(await result).to.equal('an answer');
    expect(clock.pending).to.equal(0);
  });

  it('repeats what timed out or could not be sent', async () => {
    for (const error of [
      Object.assign(new Error('aborted'), { name: 'AbortError' }),
      Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
      Object.assign(new Error('socket'), { code: 'UND_ERR_SOCKET' }),
    ]) {
      attempts = [];
      const result = run(failing(error, 1));
      await pass(1_000);
      expect(await result).to.equal('an answer');
    }
  });

  it('does not repeat what Discord refused, nor what is a mistake of ours', async () => {
    const body = { files: undefined, json: undefined };
    const refused = new DiscordAPIError({ code: 50_001, message: 'Missing Access' }, 50_001, 403, method, 'url', body);
    for (const error of [refused, new TypeError('oops')]) {
      attempts = [];
      expect(await run(failing(error))).to.equal(error);
      expect(attempts).to.have.length(1);
    }
  });

  it('stops waiting when it is aborted, and leaves no timer', async () => {
    const controller = new AbortController();
    const result = run(failing(broken), { signal: controller.signal });
    await turns();
    controller.abort();
    expect(await result).to.equal(broken);
    expect(attempts).to.have.length(1);
    expect(clock.pending).to.equal(0);
  });
});
