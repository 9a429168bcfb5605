import { expect } from 'chai';
import { chatCampaign } from './chat.js';

describe('a sample of the chat campaign', () => {
  it('finds an answer or a true sentence for everyone, and no endless typing', async function () {
    // It starts a whole host several times, which may exceed the default limit on a busy machine.
    this.timeout(60_000);
    const { counts, violations } = await chatCampaign({ seed: 2026, rounds: 25, log: () => undefined });
    expect(violations).to.deep.equal([]);
    expect(counts.activations).to.be.at.least(40);
  });
});
