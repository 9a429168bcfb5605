import { expect } from 'chai';
import { gatewayCampaign } from './gateway.js';

describe('a sample of the campaign of the gateway', () => {
  it('finds one socket a shard after each outage, no event lost or handled twice, and no attempt too many', async function () {
    this.timeout(60_000);
    const { counts, violations } = await gatewayCampaign({ seed: 2026, rounds: 4, log: () => undefined });
    expect(violations).to.deep.equal([]);
    expect(counts.rounds).to.equal(4);
  });
});
