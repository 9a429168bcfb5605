import { expect } from 'chai';
import { stopSignalsCampaign } from './stop-signals.js';

describe('a sample of the campaign of stop signals', () => {
  it('ends the bot in time, with the code and the words that are documented', async function () {
    // Three processes of the whole bot, in real time.
    this.timeout(60_000);
    const states = [
      'idle, at SIGHUP',
      'the model hanging, and a second signal',
      'a command that loops for ever, and a second signal',
    ];
    const { counts, violations } = await stopSignalsCampaign({ seed: 2026, rounds: 3, log: () => undefined }, states);
    expect(violations).to.deep.equal([]);
    expect(counts.stops).to.equal(3);
  });
});
