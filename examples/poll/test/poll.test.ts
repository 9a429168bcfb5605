import { createTestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';
import plugin from '../src/index.js';

describe('poll', () => {
  it('counts one vote a member, also after a restart', async () => {
    await using host = await createTestHost({ plugins: [plugin] });
    host.you.say(host.general, '!poll Pizza tonight? | yes | no');
    await host.settled();
    const poll = host.general.messages.at(-1);
    if (poll === undefined) throw new Error('There is no poll.');
    await host.alice.click(poll, 'yes').answered();
    expect(poll.content).to.equal('📊 **Pizza tonight?**\nyes: 1\nno: 0');

    await host.stop();
    await using again = await createTestHost({ plugins: [plugin], world: host, dataDir: host.dataDir });
    await again.alice.click(poll, 'no').answered();
    await again.bob.click(poll, 'no').answered();
    await again.settled();
    expect(poll.content).to.equal('📊 **Pizza tonight?**\nyes: 0\nno: 2');
  });
});
