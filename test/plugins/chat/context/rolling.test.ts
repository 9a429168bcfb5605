import { expect } from 'chai';
import { asLines, build, calledAfter, chat, createChannel, said } from './harness.js';

const SMALL = { recencyWindow: 20, rollingThreshold: 5, cache: '1h' } as const;

describe('chat context: the window', () => {
  it('starts with the last messages', async () => {
    const { request, facts } = await build(chat(30), { config: SMALL });
    expect(facts.messages).to.equal(20);
    expect(asLines(request)[0]).to.contain('number 10 ');
  });

  it('grows, then is cut back well below where it was cut: it does not slide', async () => {
    const channel = createChannel({ config: SMALL });
    const seen: number[] = [];
    for (let count = 20; count <= 110; count++) {
      const { facts } = await channel.activate(chat(count));
      seen.push(facts.messages);
    }
    const rolls = seen.filter((messages, index) => index > 0 && messages <= (seen[index - 1] ?? 0)).length;
    expect(Math.min(...seen)).to.equal(20);
    expect(Math.max(...seen)).to.equal(25);
    expect(rolls).to.be.within(1, 90 / 5);
  });

  it('never has more than what is set, whatever is cheapest; unset, at most twice the window, and `!why` says so', async () => {
    for (const cache of ['auto', '5m', '1h', 'off'] as const) {
      for (const [rollingThreshold, most] of [
        [5, 25],
        [1, 21],
        [undefined, 40],
      ] as const) {
        const channel = createChannel({ config: { recencyWindow: 20, rollingThreshold, cache } });
        const seen: number[] = [];
        for (let count = 20; count <= 80; count++) {
          const { facts } = await channel.activate(chat(count));
          seen.push(facts.messages);
          expect(facts.windowRule).to.contain(`at most ${most}`);
        }
        expect(Math.max(...seen), `${cache} ${rollingThreshold}`).to.be.at.most(most);
      }
    }
  });

  it('begins where it began, also after a restart', async () => {
    const channel = createChannel({ config: SMALL });
    const first = await channel.activate(chat(20));
    const second = await channel.activate(chat(23));
    expect(asLines(second.request)[0]).to.equal(asLines(first.request)[0]);
    expect(second.facts.rolled).to.equal(false);
  });

  it('slides freely while nothing is cached', async () => {
    const channel = createChannel({ config: { ...SMALL, cache: 'off' } });
    await channel.activate(chat(20));
    const { facts, request } = await channel.activate(chat(23));
    expect(facts.messages).to.equal(20);
    expect(facts.breakpoints).to.deep.equal([]);
    expect(request.cache).to.equal(undefined);
  });

  it('never begins in the middle of what the bot said in one go', async () => {
    const long = ['one', 'two', 'three'].map((part) => said('Claude', part));
    const { request } = await build([...chat(5), ...long, ...chat(18)], { config: SMALL });
    expect(asLines(request)[0]).to.equal('Claude: one two three');
  });

  it('leaves a call out together with its result when the message it followed is cut off', async () => {
    const records = [calledAfter(3, { callId: 'old' }), calledAfter(15, { callId: 'new' })];
    const { request } = await build(chat(30), { config: SMALL, records });
    expect(asLines(request).filter((line) => line.includes('call') || line.includes('result'))).to.deep.equal([
      'Claude: (calls new)',
      'Claude: (result new)',
    ]);
  });

  it('keeps a call whose message was deleted, after the message before it', async () => {
    const messages = chat(6).map((message, index) => ({ ...message, id: String(2000 + index * 10) }));
    const { request } = await build(messages, { records: [calledAfter(0, { afterMessageId: '2035' })] });
    expect(asLines(request).findIndex((line) => line.includes('calls'))).to.equal(4);
  });

  it('is cut by tokens to well below the limit, whatever the number of messages', async () => {
    const config = { maxContextTokens: 2000, truncateToTokens: 1000 };
    const { facts } = await build(chat(300), { config });
    expect(facts.estimatedTokens).to.be.within(800, 1000);
  });

  it('leaves room for the answer in a small model, also while it is cached', async () => {
    const traits = { contextTokens: 3000 };
    const channel = createChannel({ traits, config: { maxTokens: 1000 } });
    for (let count = 50; count < 150; count += 3) {
      const { facts } = await channel.activate(chat(count));
      expect(facts.estimatedTokens).to.be.at.most(2000);
    }
  });

  it('shows the end of a message that is too long by itself', async () => {
    const long = said('Alice', `${'very '.repeat(3000)}important`);
    const { request, facts } = await build([said('Bob', 'Hello'), long], { config: { maxContextTokens: 1000 } });
    expect(facts.estimatedTokens).to.be.at.most(1000);
    expect(asLines(request)).to.have.lengthOf(1);
    expect(asLines(request)[0]).to.match(/^Alice: \[…\] .*important$/);
  });
});
