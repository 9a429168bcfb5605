import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { requestsOf } from './harness.js';

describe('requests to Discord', () => {
  const start = (perSecond: number) => {
    const sent: string[] = [];
    const { clock, request } = requestsOf(perSecond, async (url) => {
      sent.push(url.replace('https://discord.com/api/v10/', ''));
      return new Response();
    });
    const ask = (path: string, init: { signal?: AbortSignal } = {}) =>
      request(`https://discord.com/api/v10/${path}`, init);
    return { clock, sent, ask };
  };

  it('take turns by channel when more wait than may go, and keep the order of each', async () => {
    const { clock, sent, ask } = start(2);
    for (let number = 1; number <= 6; number += 1) void ask(`channels/1/messages?${number}`);
    void ask('channels/2/messages?1');
    void ask('guilds/3/members?1');
    await setImmediate();
    expect(sent).to.deep.equal(['channels/1/messages?1', 'channels/1/messages?2']);
    for (let second = 0; second < 3; second += 1) {
      clock.advance(1_000);
      await setImmediate();
    }
    expect(sent.slice(2)).to.deep.equal([
      'channels/1/messages?3',
      'channels/2/messages?1',
      'guilds/3/members?1',
      'channels/1/messages?4',
      'channels/1/messages?5',
      'channels/1/messages?6',
    ]);
  });

  it('let answers to interactions through at once', async () => {
    const { sent, ask } = start(1);
    void ask('channels/1/messages');
    void ask('channels/1/messages');
    await ask('interactions/5/token/callback');
    expect(sent).to.have.members(['channels/1/messages', 'interactions/5/token/callback']);
  });

  it('let edits of such answers, and further ones, through at once', async () => {
    const { sent, ask } = start(1);
    void ask('channels/1/messages');
    void ask('channels/1/messages');
    void ask('webhooks/5/token/messages/@original');
    void ask('webhooks/5/token?wait=true');
    await setImmediate();
    expect(sent).to.have.members([
      'channels/1/messages',
      'webhooks/5/token/messages/@original',
      'webhooks/5/token?wait=true',
    ]);
  });

  it('that are called off while they wait are not sent', async () => {
    const { clock, sent, ask } = start(1);
    const controller = new AbortController();
    await ask('channels/1/messages?1');
    const waiting = ask('channels/1/messages?2', { signal: controller.signal });
    void ask('channels/1/messages?3');
    controller.abort();
    const outcome = await waiting.catch((error: unknown) => error);
    expect(outcome).to.have.property('name', 'AbortError');
    clock.advance(1_000);
    await setImmediate();
    expect(sent).to.deep.equal(['channels/1/messages?1', 'channels/1/messages?3']);
  });
});
