import { expect } from 'chai';
import { injectCampaign } from './inject.js';

describe('a sample of the inject campaign', () => {
  it('finds no words mistaken for those of another person, the host or a tool', async function () {
    // It starts whole hosts, which may exceed the default limit on a busy machine.
    this.timeout(60_000);
    const { counts, violations } = await injectCampaign({ seed: 2026, rounds: 6, log: () => undefined });
    expect(violations).to.deep.equal([]);
    expect(counts['different attempts']).to.be.at.least(60);
  });
});
