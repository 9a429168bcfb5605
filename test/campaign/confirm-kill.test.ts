import { expect } from 'chai';
import { confirmKillCampaign } from './confirm-kill.js';

describe('a sample of the campaign that kills the bot around confirmations', () => {
  it('finds nothing untrue or missing in what the member reads', async function () {
    // Real processes, each of which loads the whole bot.
    this.timeout(60_000);
    const { counts, violations } = await confirmKillCampaign({ seed: 2026, rounds: 2, log: () => undefined });
    expect(violations).to.deep.equal([]);
    expect(counts.kills).to.equal(2);
  });
});
