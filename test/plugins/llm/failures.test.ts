import {
  cutMidway,
  endMidway,
  type FailStep,
  fail,
  hang,
  hangMidway,
  type ModelStep,
  say,
} from '@cinnabar/local-models';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { ask, from, KEY, openRoute, ROUTES } from './harness.js';

const HELLO = ask([from('Alice', 'Hello!')]);
const DELAY_MS = 700;

for (const route of ROUTES) {
  describe(`llm failures: ${route.route}`, () => {
    const passing: readonly (readonly [string, ModelStep, string])[] = [
      ['429', fail(429), 'CINNABAR_LLM_RATE_LIMITED'],
      ['500', fail(500), 'CINNABAR_LLM_UNAVAILABLE'],
      ['503', fail(503), 'CINNABAR_LLM_UNAVAILABLE'],
      ['529', fail(529), 'CINNABAR_LLM_UNAVAILABLE'],
      ['a connection that is cut', cutMidway(), 'CINNABAR_LLM_UNAVAILABLE'],
    ];
    for (const [name, step, code] of passing) {
      it(`tries again after ${name}, with the same pause each time, and logs it`, async () => {
        await using harness = await openRoute(route, {
          steps: [step, step, say('at last')],
          settings: { retries: 3, retryDelayMs: DELAY_MS },
        });
        const answer = harness.llm.complete(HELLO);
        for (const _ of [1, 2]) {
          await harness.clock.armed(DELAY_MS);
          harness.clock.advance(DELAY_MS);
        }
        expect((await answer).content).to.deep.equal([{ type: 'text', text: 'at last' }]);
        const warnings = harness.logs.entries.filter(({ level }) => level === 'warn');
        expect(warnings.map(({ fields }) => [fields.attempt, fields.delayMs, fields.code])).to.deep.equal([
          [1, DELAY_MS, code],
          [2, DELAY_MS, code],
        ]);
      });
    }

    it('gives up after the configured number of repetitions', async () => {
      await using harness = await openRoute(route, { script: () => fail(500), settings: { retryDelayMs: DELAY_MS } });
      const answer = failure('CINNABAR_LLM_UNAVAILABLE', () => harness.llm.complete({ ...HELLO, retries: 1 }));
      await harness.clock.armed(DELAY_MS);
      harness.clock.advance(DELAY_MS);
      await answer;
      expect(harness.api.requests).to.have.length(2);
      expect(harness.clock.pending).to.equal(0);
    });

    it('waits as long as the provider asks, but not for ever', async () => {
      await using harness = await openRoute(route, {
        steps: [fail(429, { retryAfterSeconds: 12 }), say('ok'), fail(429, { retryAfterSeconds: 3600 })],
      });
      const answer = harness.llm.complete(HELLO);
      await harness.clock.armed(12_000);
      harness.clock.advance(12_000);
      await answer;
      await failure('CINNABAR_LLM_RATE_LIMITED', () => harness.llm.complete(HELLO));
      expect(harness.api.requests).to.have.length(3);
    });

    const final: readonly (readonly [string, FailStep, RegExp])[] = [
      ['400', fail(400, { message: `bad request with ${KEY} in it` }), /bad request with \(key\) in it/],
      ['401', fail(401, { message: `Incorrect API key provided: ${KEY}` }), /did not accept the key in [A-Z_]+/],
      ['403', fail(403, { message: 'not for you' }), /the key in [A-Z_]+ may not do that: not for you/],
      ['404', fail(404, { message: 'no such model' }), /does not know this model or address .*no such model/],
      ['used up credit', fail(429, { code: 'insufficient_quota' }), /no credit left/],
    ];
    for (const [name, step, sentence] of final) {
      it(`does not repeat ${name}, and says what is wrong without the key`, async () => {
        await using harness = await openRoute(route, { steps: [step] });
        const error = await failure('CINNABAR_LLM_REFUSED', () => harness.llm.complete(HELLO));
        expect(error.message).to.match(sentence).and.not.to.include(KEY).and.not.to.include(KEY.slice(0, 12));
        expect(harness.api.requests).to.have.length(1);
      });
    }

    for (const [when, step] of [
      ['before anything came', hang()],
      ['in the middle of the answer', hangMidway()],
    ] as const) {
      it(`stops waiting at the time limit ${when}, ends the request and tries again`, async () => {
        await using harness = await openRoute(route, {
          steps: [step, say('ok')],
          settings: { retryDelayMs: DELAY_MS },
        });
        const answer = harness.llm.complete({ ...HELLO, timeoutMs: 5_000 });
        const first = await harness.api.arrived(1);
        await harness.api.hanging();
        harness.clock.advance(5_000);
        expect(await first.ended).to.equal('aborted');
        await harness.clock.armed(DELAY_MS);
        harness.clock.advance(DELAY_MS);
        expect((await answer).content).to.have.length(1);
      });

      it(`cancels the HTTP request at once ${when}`, async () => {
        await using harness = await openRoute(route, { steps: [step] });
        const controller = new AbortController();
        const answer = failure('CINNABAR_LLM_CANCELLED', () =>
          harness.llm.complete({ ...HELLO, signal: controller.signal }),
        );
        const first = await harness.api.arrived(1);
        await harness.api.hanging();
        controller.abort();
        await answer;
        expect(await first.ended).to.equal('aborted');
        expect(harness.clock.pending).to.equal(0);
      });
    }

    it('ends at the deadline, repetitions and pauses included', async () => {
      await using harness = await openRoute(route, {
        steps: [fail(500), hang(), say('too late')],
        settings: { retryDelayMs: DELAY_MS, timeoutMs: 20_000, retries: 9 },
      });
      const deadlineAt = harness.clock.now() + 20_000 + DELAY_MS;
      const answer = failure('CINNABAR_LLM_TIMEOUT', () => harness.llm.complete({ ...HELLO, deadlineAt }));
      await harness.clock.armed(DELAY_MS);
      harness.clock.advance(DELAY_MS);
      await harness.api.arrived(2);
      harness.clock.advance(20_000);
      await answer;
      expect(harness.clock.now()).to.equal(deadlineAt);
      expect(harness.clock.pending).to.equal(0);
      expect(harness.api.requests).to.have.length(2);
    });

    it('takes two minutes in all where the caller says nothing', async () => {
      await using harness = await openRoute(route, { steps: [hang(), say('too late')] });
      const answer = failure('CINNABAR_LLM_TIMEOUT', () => harness.llm.complete(HELLO));
      await harness.api.arrived(1);
      harness.clock.advance(120_000);
      await answer;
      expect(harness.api.requests).to.have.length(1);
    });

    it('says how long it waited when no attempt made it in time', async () => {
      await using harness = await openRoute(route, { steps: [hang()] });
      const answer = failure('CINNABAR_LLM_TIMEOUT', () =>
        harness.llm.complete({ ...HELLO, timeoutMs: 5_000, retries: 0 }),
      );
      await harness.api.arrived(1);
      harness.clock.advance(5_000);
      expect((await answer).message).to.include('5 s');
    });

    it('cancels while it pauses before a repetition, and sends nothing for a signal that is aborted', async () => {
      await using harness = await openRoute(route, { steps: [fail(500)], settings: { retryDelayMs: DELAY_MS } });
      const controller = new AbortController();
      const request = { ...HELLO, signal: controller.signal };
      const answer = failure('CINNABAR_LLM_CANCELLED', () => harness.llm.complete(request));
      await harness.clock.armed(DELAY_MS);
      controller.abort();
      await answer;
      await failure('CINNABAR_LLM_CANCELLED', () => harness.llm.complete(request));
      expect(harness.api.requests).to.have.length(1);
    });

    it('cancels what is under way when the plugin stops', async () => {
      await using harness = await openRoute(route, { steps: [hang()] });
      const answer = failure('CINNABAR_LLM_CANCELLED', () => harness.llm.complete(HELLO));
      const first = await harness.api.arrived(1);
      harness.stop();
      await answer;
      expect(await first.ended).to.equal('aborted');
    });

    it('reports a server that is not there as unreachable', async () => {
      const harness = await openRoute(route);
      await harness.api[Symbol.asyncDispose]();
      await failure('CINNABAR_LLM_UNAVAILABLE', () => harness.llm.complete({ ...HELLO, retries: 0 }));
    });

    if (route.stream) {
      for (const [name, step] of [
        ['an error inside the stream', fail(529, { midway: true, code: 'overloaded_error' })],
        ['a stream that ends before the answer does', endMidway()],
      ] as const) {
        it(`tries again after ${name}`, async () => {
          await using harness = await openRoute(route, {
            steps: [step, say('ok')],
            settings: { retryDelayMs: DELAY_MS },
          });
          const answer = harness.llm.complete(HELLO);
          await harness.clock.armed(DELAY_MS);
          harness.clock.advance(DELAY_MS);
          expect((await answer).content).to.deep.equal([{ type: 'text', text: 'ok' }]);
        });
      }
    }
  });
}
