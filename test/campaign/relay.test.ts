import { expect } from 'chai';
import { givenUpOf } from './relay/host/given-up.js';
import { hostRounds } from './relay/hosts.js';
import { queueRounds } from './relay/queues.js';

describe('a sample of the relay campaign', () => {
  it('finds nothing lost and nothing sent under two keys, wherever the queue is killed', async function () {
    // It starts several processes, which may exceed the default limit on a busy machine.
    this.timeout(60_000);
    const { counts, violations } = await queueRounds({ seed: 2026, rounds: 2, log: () => undefined });
    expect(violations).to.deep.equal([]);
    expect(counts['kills of the queue']).to.equal(2);
    expect(counts.handled).to.be.above(0);
  });

  it('finds nothing posted twice and no one left waiting, wherever the whole bot is killed', async function () {
    this.timeout(120_000);
    const { counts, violations } = await hostRounds({ seed: 2026, rounds: 1, log: () => undefined });
    expect(violations).to.deep.equal([]);
    expect(counts['kills of the whole bot']).to.equal(1);
    expect(counts['brought to an agent']).to.be.above(0);
  });
});

describe('orders that the relay campaign counts as given up with a notice', () => {
  const judged = (refused: readonly number[], prompts: readonly (readonly number[])[]) => [
    ...givenUpOf({ channels: [[1, 2, 4, 5], [3]], prompts, refused: new Set(refused) }),
  ];

  it('are all orders of a prompt whose newest order has a reply', () => {
    expect(judged([4], [[1, 2, 4]]).sort()).to.deep.equal([1, 2, 4]);
  });

  it('are no orders of other prompts, and no later ones', () => {
    expect(
      judged(
        [2],
        [
          [1, 2],
          [4, 5],
        ],
      ).sort(),
    ).to.deep.equal([1, 2]);
    expect(judged([1], [[1, 2, 4]])).to.deep.equal([1]);
  });

  it('are the unsent orders in the channel before an order with a reply', () => {
    expect(judged([5], [[1, 2]]).sort()).to.deep.equal([4, 5]);
    expect(judged([5], [[4]])).to.deep.equal([5]);
    expect(judged([2], []).sort()).to.deep.equal([1, 2]);
  });
});
