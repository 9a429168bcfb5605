import { createTestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';
import plugin from '../src/index.js';

describe('dice', () => {
  it('rolls a die of as many sides as one likes', async () => {
    await using host = await createTestHost({ plugins: [plugin] });
    host.alice.say(host.general, '!roll 2');
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.match(/^🎲 [12]$/);
  });
});
