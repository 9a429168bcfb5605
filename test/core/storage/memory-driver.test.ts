import { createMemoryDriver } from '@cinnabar/core/testing';
import { expect } from 'chai';
import { describeDriver } from './driver-contract.js';

describeDriver('memory', async () => {
  const driver = createMemoryDriver();
  return {
    driver,
    damage: async (path, text, options) => driver.damage(path, text, options),
    [Symbol.asyncDispose]: () => driver.close(),
  };
});

describe('failing writes of the memory driver', () => {
  it('fails as often as it was told, then writes again', async () => {
    const driver = createMemoryDriver();
    driver.failWrites(new Error('no room'), 2);
    const attempts = [];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      attempts.push(await driver.write(['a'], { version: 1, data: attempt }).then(() => 'written', String));
    }
    expect(attempts).to.deep.equal(['Error: no room', 'Error: no room', 'written']);
  });
});
