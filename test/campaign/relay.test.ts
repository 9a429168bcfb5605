import { expect } from 'chai';
import { hostRounds } from './relay/hosts.js';
import { queueRounds } from './relay/queues.js';

describe('a sample of the relay campaign', () => {
  it('finds nothing lost and nothing sent under two keys, wherever the queue is killed', async function () {
    // It starts several processes: more than a busy machine does in the usual limit.
    this.timeout(60_000);
    const { counts, violations } = await queueRounds({ seed: 2026, rounds: 3, log: () => undefined });
    expect(violations).to.deep.equal([]);
    expect(counts['kills of the queue']).to.equal(3);
    expect(counts.handled).to.be.above(0);
  });

  it('finds nothing posted twice and nobody left waiting, wherever the whole bot is killed', async function () {
    this.timeout(120_000);
    const { counts, violations } = await hostRounds({ seed: 2026, rounds: 2, log: () => undefined });
    expect(violations).to.deep.equal([]);
    expect(counts['kills of the whole bot']).to.equal(2);
    expect(counts['brought to an agent']).to.be.above(0);
  });
});
