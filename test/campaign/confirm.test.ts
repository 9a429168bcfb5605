import { expect } from 'chai';
import { confirmCampaign } from './confirm.js';

describe('a sample of the confirmation campaign', () => {
  it('finds nothing that runs twice, after 👎, after expiry or after a restart', async function () {
    // It starts a whole host several times, which may exceed the default limit on a busy machine.
    this.timeout(60_000);
    const { counts, violations } = await confirmCampaign({ seed: 2026, rounds: 50, log: () => undefined });
    expect(violations).to.deep.equal([]);
    expect(counts).to.include({ 'tool service interleavings': 50, 'end-to-end interleavings': 50 });
    expect(counts['ended done']).to.be.above(0);
  });
});
