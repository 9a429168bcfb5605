import { createTestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';
import plugin from '../src/index.js';

describe('echo', () => {
  it('answers what is said to the bot', async () => {
    await using host = await createTestHost({ plugins: ['ai', plugin] });
    host.you.say(host.general, '!ai use echo');
    await host.settled();
    host.alice.say(host.general, '!ai hello there');
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.equal('1: hello there');
  });
});
