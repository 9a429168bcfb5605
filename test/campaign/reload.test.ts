import { expect } from 'chai';
import { reloadCampaign } from './reload.js';

describe('the reload campaign, a sample', () => {
  it('leaves no version alive and no effect behind', async function () {
    this.timeout(60_000);
    const lines: string[] = [];
    const { counts, violations } = await reloadCampaign({ seed: 1, rounds: 1, log: (line) => lines.push(line) });
    expect(violations, lines.join('\n')).to.deep.equal([]);
    expect(counts.reloads).to.be.at.least(5);
  });
});
