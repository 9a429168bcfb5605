import { createErrorLog, errorCollections } from '@cinnabar/plugin-relay/dist/error-log.js';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { memoryStorage } from '../../../core/storage/fixture.js';

class APIError extends Error {
  override readonly name = 'APIError';
  constructor(
    message: string,
    readonly status?: number,
  ) {
    super(message);
  }
}

const about = { channelId: '7', agent: 'aurora', sentence: 'It failed.' };

function given() {
  const { errors } = memoryStorage().open({ collections: errorCollections }).collections;
  const clock = createManualClock();
  return { clock, log: createErrorLog(errors, clock) };
}

describe("a guild's errors", () => {
  it('say when, where, which agent, what the member was told and what kind of failure it was, newest first', async () => {
    const { clock, log } = given();
    const at = clock.now();
    await log.record('1', about, new APIError('busy', 503));
    clock.advance(1_000);
    await log.record('1', { ...about, channelId: '8' }, undefined);
    expect(await log.recent('1')).to.deep.equal([
      { ...about, at: at + 1_000, channelId: '8', kind: 'unknown' },
      { ...about, at, kind: 'APIError 503' },
    ]);
  });

  it('are of that guild alone', async () => {
    const { log } = given();
    await log.record('1', about, new Error('no'));
    expect(await log.recent('2')).to.deep.equal([]);
  });

  it('are the last fifty', async () => {
    const { log } = given();
    for (let n = 0; n < 60; n += 1) await log.record('1', { ...about, channelId: `${n}` }, new Error('no'));
    const channels = (await log.recent('1')).map(({ channelId }) => channelId);
    expect(channels).to.have.lengthOf(50);
    expect(channels[0]).to.equal('59');
  });

  it('hold nothing of what a server or a member has said', async () => {
    const { log } = given();
    await log.record(
      '1',
      about,
      new APIError('the key sk-abcdefghijklmnop is wrong; prompt was: my secret diary', 401),
    );
    const odd = Object.assign(new Error('x'), { name: 'my secret diary', code: 'my secret diary' });
    await log.record('1', about, odd);
    const kept = JSON.stringify(await log.recent('1'));
    expect(kept).to.not.match(/sk-|diary/);
    expect(kept).to.include('APIError 401');
  });

  it('know a failure of the network by its code', async () => {
    const { log } = given();
    await log.record('1', about, Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
    expect((await log.recent('1'))[0]?.kind).to.equal('Error ECONNREFUSED');
  });

  it('know it behind the errors that the client wraps around it, by the name of its class', async () => {
    class APIConnectionError extends Error {}
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const failed = new TypeError('fetch failed', { cause: refused });
    const { log } = given();
    await log.record('1', about, new APIConnectionError('Connection error.', { cause: failed }));
    const endless = new Error('no');
    await log.record('1', about, Object.assign(endless, { cause: endless }));
    const kinds = (await log.recent('1')).map(({ kind }) => kind);
    expect(kinds).to.deep.equal(['Error', 'APIConnectionError ECONNREFUSED']);
  });
});
