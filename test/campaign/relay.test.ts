import { expect } from 'chai';
import { relayCampaign } from './relay.js';

describe('a sample of the relay campaign', () => {
  it('finds nothing lost and nothing sent under two keys, wherever the process is killed', async function () {
    // It starts several processes: more than a busy machine does in the usual limit.
    this.timeout(60_000);
    const { counts, violations } = await relayCampaign({ seed: 2026, rounds: 3, log: () => undefined });
    expect(violations).to.deep.equal([]);
    expect(counts.kills).to.equal(3);
    expect(counts.handled).to.be.above(0);
  });
});
