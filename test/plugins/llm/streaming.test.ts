import { cutMidway, fail, type ModelStep, say } from '@cinnabar/local-models';
import { expect } from 'chai';
import { ask, DICE, from, type Harness, openRoute, ROUTES } from './harness.js';

const STREAMED = ROUTES.filter(({ stream }) => stream);
const [, , , , ANTHROPIC] = ROUTES;
const DELAY_MS = 700;
const LONG = 'The quick brown fox jumps over the lazy dog, 你好, and is gone. 🎉\n\nEnd.';

/** The chunks that a caller received, and the final result. */
function listen() {
  const told: (readonly [piece: string, restart: boolean])[] = [];
  return {
    told,
    onText: (piece: string, restart: boolean) => void told.push([piece, restart]),
    get counts() {
      const last = told.findLastIndex(([, restart]) => restart);
      return told
        .slice(Math.max(0, last))
        .map(([piece]) => piece)
        .join('');
    },
  };
}

function textOf({ content }: Awaited<ReturnType<Harness['llm']['complete']>>): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

for (const route of STREAMED) {
  describe(`llm streaming: ${route.route}`, () => {
    it('passes the text on in pieces, exactly as it ends up', async () => {
      await using harness = await openRoute(route, { steps: [say(`Cinnabar: ${LONG}  \n`, { thinking: 'hm' })] });
      const ear = listen();
      const completion = await harness.llm.complete(ask([from('Alice', 'hi')], { onText: ear.onText }));
      expect(ear.told.length).to.be.greaterThan(3);
      expect(ear.told.some(([, restart]) => restart)).to.equal(false);
      expect(ear.counts).to.equal(textOf(completion));
      expect(ear.counts.trim()).to.equal(LONG);
    });

    it('stops reading an answer that has no end, and has its beginning', async () => {
      const endless = 'An endless answer. '.repeat(5_000);
      await using harness = await openRoute(route, { steps: [say(endless)], settings: { maxAnswerBytes: 20_000 } });
      const completion = await harness.llm.complete(ask([from('Alice', 'hi')]));
      expect(textOf(completion)).to.have.length(20_000);
      expect(endless.startsWith(textOf(completion))).to.equal(true);
      expect(completion.stopReason).to.equal('max_tokens');
      expect(harness.api.requests).to.have.length(1);
    });

    it('charges and meters what was read of an answer that it did not read to its end', async () => {
      const long = 'A long answer. '.repeat(4_000);
      await using harness = await openRoute(route, { steps: [say(long)], settings: { maxAnswerBytes: 20_000 } });
      const completion = await harness.llm.complete(ask([from('Alice', 'What do you think of it?')]));
      expect(completion.usage.inputTokens).to.be.greaterThan(0);
      expect(completion.usage.outputTokens).to.be.within(4_500, 6_000);
      expect(harness.metered).to.deep.equal([completion.usage]);
    });

    it('starts over with a repeated attempt', async () => {
      await using harness = await openRoute(route, {
        steps: [cutMidway(say('I was saying something else, at some length.')), say(LONG)],
        settings: { retryDelayMs: DELAY_MS },
      });
      const ear = listen();
      const answer = harness.llm.complete(ask([from('Alice', 'hi')], { onText: ear.onText }));
      await harness.clock.armed(DELAY_MS);
      harness.clock.advance(DELAY_MS);
      expect(textOf(await answer)).to.equal(LONG);
      expect(ear.counts).to.equal(LONG);
      expect(ear.told.filter(([, restart]) => restart)).to.have.length(1);
    });
  });
}

describe('llm streaming', () => {
  it('shows no text behind a stop sequence beyond the four that the provider takes, while the answer grows', async () => {
    const [, , CHAT] = ROUTES;
    const stopSequences = ['A!', 'B!', 'C!', 'D!', 'ENOUGH SAID'];
    const steps = [
      say('It ends here. ENOUGH SAID, and this was never meant for you.'),
      say('We say ENOUGH, not more.'),
    ];
    await using harness = await openRoute(CHAT, { steps });
    for (const expected of ['It ends here.', 'We say ENOUGH, not more.']) {
      const ear = listen();
      const completion = await harness.llm.complete(ask([from('Alice', 'hi')], { stopSequences, onText: ear.onText }));
      expect(textOf(completion).trim()).to.equal(expected);
      expect(
        ear.told
          .map(([piece]) => piece)
          .join('')
          .trim(),
      ).to.equal(expected);
    }
  });

  it('gives the whole text at once where answers are not received piece by piece', async () => {
    await using harness = await openRoute(ANTHROPIC, { settings: { stream: false }, steps: [say(LONG)] });
    const ear = listen();
    await harness.llm.complete(ask([from('Alice', 'hi')], { onText: ear.onText }));
    expect(ear.told).to.deep.equal([[LONG, false]]);
  });

  it('withdraws the text when the repeated attempt is empty', async () => {
    const steps: ModelStep[] = [
      cutMidway(say('I was saying something.')),
      { kind: 'reply', calls: [{ name: 'roll_dice' }] },
    ];
    await using harness = await openRoute(ANTHROPIC, { steps, settings: { retryDelayMs: DELAY_MS } });
    const ear = listen();
    const answer = harness.llm.complete(ask([from('Alice', 'hi')], { onText: ear.onText, tools: [DICE] }));
    await harness.clock.armed(DELAY_MS);
    harness.clock.advance(DELAY_MS);
    await answer;
    expect(ear.told.at(-1)).to.deep.equal(['', true]);
  });

  it('starts over with another model', async () => {
    await using harness = await openRoute(ANTHROPIC, {
      steps: [fail(529, { midway: true, code: 'overloaded_error' }), say(LONG)],
    });
    const ear = listen();
    await harness.llm.complete(ask([from('Alice', 'hi')], { onText: ear.onText, retries: 0, fallbacks: ['other'] }));
    expect(ear.counts).to.equal(LONG);
  });

  it('in prefill never passes on a forged speaker or a written call', async () => {
    const answers = [
      ' Bob, you said: fine.\nSo be it.\n\nBob: I take that back.',
      ' Rolling.\n\nCinnabar>[roll_dice]: {"sides": 6}\n\nCinnabar<[roll_dice]: 6',
    ];
    await using harness = await openRoute(ANTHROPIC, {
      prefill: true,
      model: 'claude-3-opus-20240229',
      steps: answers.map((text) => say(text)),
    });
    for (const expected of ['Bob, you said: fine.\nSo be it.', 'Rolling.']) {
      const ear = listen();
      const messages = [from('Bob', 'fine'), from('Alice', 'so?')];
      const completion = await harness.llm.complete(
        ask(messages, { onText: ear.onText, mode: 'prefill', tools: [DICE] }),
      );
      expect(textOf(completion)).to.equal(expected);
      expect(ear.counts).to.equal(expected);
      expect(ear.told.some(([, restart]) => restart)).to.equal(false);
    }
  });
});
