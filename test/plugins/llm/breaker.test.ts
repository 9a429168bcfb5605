import { fail, hang, type ModelStep, say } from '@cinnabar/local-models';
import { type ChargedRequest, CinnabarError } from '@cinnabar/sdk';
import { expect } from 'chai';
import { ask, from, openRoute, ROUTES } from './harness.js';

const [, , CHAT] = ROUTES;
const TIMEOUT_MS = 5_000;
const DOWN = fail(500);
const GOOD = say('Hello.');

function codeOf(error: unknown): string {
  if (!(error instanceof CinnabarError)) throw error;
  return error.code;
}

async function start() {
  let next: ModelStep = GOOD;
  const settings = { retries: 0, timeoutMs: TIMEOUT_MS };
  const harness = await openRoute(CHAT, { script: () => next, settings });
  /** The result of a request with this response: the code of its failure, or `answered`. */
  const run = (step: ModelStep, more: Partial<ChargedRequest> = {}) => {
    next = step;
    return harness.llm.complete({ ...ask([from('Alice', 'Hi')]), ...more }).then(() => 'answered', codeOf);
  };
  const times = async (count: number, step: ModelStep) => {
    for (let time = 0; time < count; time += 1) await run(step);
  };
  /** A request that is not answered until `end` has been called. */
  const hanging = async (end: () => unknown, more: Partial<ChargedRequest> = {}) => {
    const before = harness.api.requests.length;
    const result = run(hang(), more);
    await harness.api.arrived(before + 1);
    end();
    return result;
  };
  const state = async () => /^\*\*Server:\*\* \S+ \((.*)\)$/m.exec(await harness.status())?.[1];
  return { ...harness, run, times, hanging, state };
}

describe('llm breaker', () => {
  it('opens after five failures in a row, says so, and lets nothing through for half a minute', async () => {
    await using model = await start();
    const { clock, logs } = model;
    await model.times(4, DOWN);
    await model.run(GOOD);
    for (let time = 0; time < 4; time += 1)
      expect(await model.hanging(() => clock.advance(TIMEOUT_MS))).to.equal('CINNABAR_LLM_TIMEOUT');
    expect(await model.state()).to.equal('answers');
    expect(await model.run(DOWN)).to.equal('CINNABAR_LLM_UNAVAILABLE');
    expect(await model.state()).to.match(/tried again in 30 s/);
    clock.advance(29_999);
    const asked = model.api.requests.length;
    expect(await model.run(GOOD)).to.equal('CINNABAR_LLM_PAUSED');
    expect(model.api.requests).to.have.length(asked);
    const said = logs.entries.filter(({ message }) => message.includes('vendor'));
    expect(said.map(({ level }) => level)).to.deep.equal(['warn']);
  });

  it('counts neither refusals nor rate limits nor cancellations', async () => {
    await using model = await start();
    await model.times(9, fail(400));
    await model.times(9, fail(429));
    for (let time = 0; time < 9; time += 1) {
      const asking = new AbortController();
      const stopped = await model.hanging(() => asking.abort(), { signal: asking.signal });
      expect(stopped).to.equal('CINNABAR_LLM_CANCELLED');
      // A deadline of the caller that leaves no time to answer.
      const deadlineAt = model.clock.now() + 1_000;
      const late = await model.hanging(() => model.clock.advance(1_000), { deadlineAt });
      expect(late).to.equal('CINNABAR_LLM_TIMEOUT');
    }
    expect(await model.state()).to.equal('answers');
  });

  it('admits one probe, for which all other requests wait', async () => {
    await using model = await start();
    const { clock, logs } = model;
    await model.times(5, DOWN);
    clock.advance(30_000);
    expect(await model.state()).to.include('tried with the next request');
    const probe = model.run(hang(GOOD));
    await model.api.arrived(6);
    expect(await model.state()).to.include('is being tried again');
    expect(await model.run(GOOD)).to.equal('CINNABAR_LLM_PAUSED');
    model.api.release();
    expect(await probe).to.equal('answered');
    expect(await model.state()).to.equal('answers');
    const said = logs.entries.filter(({ message }) => message.includes('vendor'));
    expect(said.map(({ level }) => level)).to.deep.equal(['warn', 'info']);
  });

  it('stays open when the probe fails, but not when it is cancelled', async () => {
    await using model = await start();
    const { clock } = model;
    await model.times(5, DOWN);
    clock.advance(30_000);
    await model.run(DOWN);
    expect(await model.state()).to.match(/tried again in 30 s/);
    clock.advance(30_000);
    const asking = new AbortController();
    await model.hanging(() => asking.abort(), { signal: asking.signal });
    expect(await model.state()).to.include('tried with the next request');
    await model.run(GOOD);
    expect(await model.state()).to.equal('answers');
  });
});
