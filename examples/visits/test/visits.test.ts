import { createTestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';
import plugin from '../src/index.js';

describe('visits', () => {
  it('greets new members where an admin wants it', async () => {
    await using host = await createTestHost({ plugins: [plugin] });
    host.you.say(host.general, `!visits here <#${host.general.id}>`);
    await host.settled();
    const carol = host.discord.createUser({ name: 'carol' });
    host.guild.join(carol);
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.equal(`Welcome, <@${carol.id}>!`);
  });
});
