import { expect } from 'chai';
import { dayCampaign, NIGHT } from './day.js';

describe('a sample of the day campaign', () => {
  it('finds an answer for everyone, no effect doubled or lost, and no bookkeeping in a request after a night with a crash', async function () {
    // It starts whole bots, one of them twice, which may exceed the default limit on a busy machine.
    this.timeout(60_000);
    const { counts, violations } = await dayCampaign({ seed: 2026, rounds: 1, log: () => undefined }, NIGHT);
    expect(violations).to.deep.equal([]);
    expect(counts['disturbances: crash']).to.be.at.least(1);
    expect(counts['requests to models']).to.be.above(10);
  });
});
