import { expect } from 'chai';
import { settingsCampaign } from '../../campaign/settings.js';

describe('storage whose process is killed', () => {
  it('loses no acknowledged write and always opens', async function () {
    this.timeout(60_000);
    const seed = Date.now() % 1_000_000;
    const { counts, violations } = await settingsCampaign({ seed, rounds: 6, log: () => undefined });
    expect(violations, `seed ${seed}`).to.deep.equal([]);
    expect(counts.kills).to.equal(6);
    expect(counts.acknowledged, `seed ${seed}`).to.be.greaterThan(0);
  });
});
