import { CANCELLED } from '@cinnabar/plugin-llm/dist/attempt.js';
import { createBreaker } from '@cinnabar/plugin-llm/dist/circuit-breaker.js';
import type { Attempt, Failure } from '@cinnabar/plugin-llm/dist/providers/provider.js';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { recordingLogger } from '../../support/logs.js';

const GOOD: Attempt = {
  ok: true,
  reply: { content: [], stopReason: 'end_turn', usage: { inputTokens: 0, outputTokens: 0 }, model: 'm' },
};
const bad = (code: Failure['code']): Attempt => ({ ok: false, failure: { code, params: {}, retry: true } });
const DOWN = bad('CINNABAR_LLM_UNAVAILABLE');

function start() {
  const clock = createManualClock();
  const logs = recordingLogger();
  const breaker = createBreaker('acme', clock, logs);
  const run = (...attempts: Attempt[]) => Promise.all(attempts.map((attempt) => breaker.run(async () => attempt)));
  const times = async (count: number, attempt: Attempt) => {
    for (let time = 0; time < count; time++) await run(attempt);
  };
  return { clock, logs, breaker, run, times };
}

describe('llm breaker', () => {
  it('opens after five failures in a row, says so, and lets nothing through for half a minute', async () => {
    const { breaker, run, times, clock, logs } = start();
    await times(4, DOWN);
    await run(GOOD);
    await times(4, bad('CINNABAR_LLM_TIMEOUT'));
    expect(breaker.state).to.equal('answers');
    await run(DOWN);
    expect(breaker.state).to.match(/tried again in 30 s/);
    clock.advance(29_999);
    const [refused] = await run(GOOD);
    expect(refused).to.have.nested.property('failure.code', 'CINNABAR_LLM_PAUSED');
    expect(logs.entries.map(({ level }) => level)).to.deep.equal(['warn']);
  });

  it('counts neither refusals nor rate limits nor cancellations', async () => {
    const { breaker, times } = start();
    await times(9, bad('CINNABAR_LLM_REFUSED'));
    await times(9, bad('CINNABAR_LLM_RATE_LIMITED'));
    await times(9, { ok: false, failure: CANCELLED });
    // A deadline of the caller that is too short for an answer.
    await times(9, {
      ok: false,
      failure: { code: 'CINNABAR_LLM_TIMEOUT', params: {}, retry: true, inconclusive: true },
    });
    expect(breaker.state).to.equal('answers');
  });

  it('lets one request find out, and all others wait for it', async () => {
    const { breaker, run, times, clock, logs } = start();
    await times(5, DOWN);
    clock.advance(30_000);
    expect(breaker.state).to.include('tried with the next request');
    let finish: (attempt: Attempt) => void = () => undefined;
    const probe = breaker.run(
      () =>
        new Promise<Attempt>((resolve) => {
          finish = resolve;
        }),
    );
    expect(breaker.state).to.equal('is being tried again');
    const [other] = await run(GOOD);
    expect(other).to.have.nested.property('failure.code', 'CINNABAR_LLM_PAUSED');
    finish(GOOD);
    expect(await probe).to.equal(GOOD);
    expect(breaker.state).to.equal('answers');
    expect(logs.entries.map(({ level }) => level)).to.deep.equal(['warn', 'info']);
  });

  it('rests again when that request fails, and not when it is called off', async () => {
    const { breaker, run, times, clock } = start();
    await times(5, DOWN);
    clock.advance(30_000);
    await run(DOWN);
    expect(breaker.state).to.match(/tried again in 30 s/);
    clock.advance(30_000);
    await run({ ok: false, failure: CANCELLED });
    expect(breaker.state).to.include('tried with the next request');
    await run(GOOD);
    expect(breaker.state).to.equal('answers');
  });
});
