import { expect } from 'chai';
import { trustCampaign } from './trust.js';

describe('a sample of the trust campaign', () => {
  it('finds no word in a request or a post that its reader could not read in their own client, and many that they could', async function () {
    // It starts a whole host, which may exceed the default limit on a busy machine.
    this.timeout(60_000);
    const { counts, violations } = await trustCampaign({ seed: 2026, rounds: 240, log: () => undefined });
    expect(violations).to.deep.equal([]);
    expect(counts.steps).to.equal(240);
    const read = Object.entries(counts).filter(([what]) => what.startsWith('read in '));
    expect(read.reduce((sum, [, times]) => sum + times, 0)).to.be.above(20);
  });
});
