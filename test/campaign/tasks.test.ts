import { expect } from 'chai';
import { tasksCampaign } from './tasks.js';

describe('a sample of the campaign of tasks', () => {
  it('finds nothing done twice, said twice or forgotten by a task that is killed', async function () {
    // It starts a bot in a separate process several times.
    this.timeout(120_000);
    const options = { seed: 2026, rounds: 1, log: () => undefined };
    const { counts, violations } = await tasksCampaign(options, { every: 110 });
    expect(violations).to.deep.equal([]);
    expect(counts['kills at write boundaries']).to.be.above(1);
    expect(counts['kills at random moments']).to.be.above(0);
  });
});
