import { createClaims } from '@cinnabar/core/internal/cluster/claims';
import { expect } from 'chai';
import { recordingLogger } from '../../support/logs.js';

/** A database that takes every claim once it is let. */
function slowDatabase() {
  const order: string[] = [];
  let goOn: () => void = () => undefined;
  const let_ = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const write = async () => {
    await let_;
    order.push('claimed');
    return '1';
  };
  return {
    order,
    goOn,
    database: {
      schema: 'cinnabar',
      query: async () => [],
      writer: () => ({ write, transaction: () => Promise.reject(new Error('nothing here is a transaction')) }),
    },
  };
}

const asked = { id: '1574453574199410712', guildId: '1', channelId: '2', userId: '3' };

describe('claims', () => {
  it('of what waits until its server is known are made before it counts as begun', async () => {
    const { order, goOn, database } = slowDatabase();
    const claims = createClaims(
      database,
      { group: 0, token: 1n, isHeld: () => true, held: async () => undefined },
      recordingLogger(),
    );
    let known: () => void = () => undefined;
    const reading = new Promise<void>((resolve) => {
      known = resolve;
    }).then(() => void claims.run(asked, () => 'answered'));
    claims.follows(reading);
    const begun = claims.begun().then(() => order.push('begun'));
    known();
    await reading;
    goOn();
    await begun;
    expect(order.slice(0, 2)).to.deep.equal(['claimed', 'begun']);
  });
});
