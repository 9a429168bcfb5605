import { expect } from 'chai';
import { p95Beside } from '../../../bench/relay/neighbours.js';

describe('a guild beside another whose agent fails at every call', () => {
  it('waits no longer than beside one whose agent answers', async function () {
    // Half a minute of two guilds' conversations, five times.
    this.timeout(60_000);
    const undisturbed = await p95Beside('answers', 0.5);
    for (const neighbour of ['fails at once', 'fails after a minute'] as const) {
      expect(await p95Beside(neighbour, 0.5), neighbour).to.be.at.most(undisturbed * 1.1);
    }
  });

  it('would wait longer, if the other could have all places', async function () {
    this.timeout(60_000);
    const fair = await p95Beside('fails after a minute', 0.5);
    const unfair = await p95Beside('fails after a minute', 0.5, { total: 4, perGuild: 4 });
    expect(unfair).to.be.above(fair * 1.1);
  });
});
