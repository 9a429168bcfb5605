import { expect } from 'chai';
import { accessCampaign } from './access.js';

describe('a sample of the campaign of access rules', () => {
  it('finds no denial that a rule of lower precedence lifts, no explanation that differs from the decision, and no owner who is locked out', async function () {
    this.timeout(30_000);
    const { counts, violations } = await accessCampaign({ seed: 2026, rounds: 2_000, log: () => undefined });
    expect(violations).to.deep.equal([]);
    expect(counts.cases).to.equal(5 * 2_000);
    for (const what of [
      'owner decided: deny',
      'guild decided: deny',
      'guild decided: allow',
      'ignored',
      'tiers lifted',
      'allowed',
      'refused',
    ])
      expect(counts[what], what).to.be.above(20);
  });
});
