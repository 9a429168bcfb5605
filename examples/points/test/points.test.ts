import { createTestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';
import plugin from '../src/index.js';
import { Points } from '../src/token.js';

describe('points', () => {
  it('gives and shows points, also for other plugins', async () => {
    await using host = await createTestHost({ plugins: [plugin] });
    const you = { guildId: host.guild.id, userId: host.you.id };
    expect(await host.resolve(Points).give(you, 3)).to.equal(3);
    host.you.say(host.general, '!points');
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.equal('You have 3 points.');
  });
});
