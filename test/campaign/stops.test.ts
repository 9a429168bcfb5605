import { expect } from 'chai';
import { stopsCampaign } from './stops.js';

describe('a sample of the campaign of stops', () => {
  it('finds no activity after a stop, and every stop acknowledged at once', async function () {
    // Runs in real time, against a provider over HTTP.
    this.timeout(60_000);
    const { counts, violations } = await stopsCampaign({ seed: 2026, rounds: 6, log: () => undefined });
    expect(violations).to.deep.equal([]);
    expect(counts.stops).to.equal(6);
  });
});
