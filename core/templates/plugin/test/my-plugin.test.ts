import { createTestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';
import plugin from '../src/index.js';

describe('my-plugin', () => {
  it('greets people, with the word that the admins of the server have chosen', async () => {
    await using host = await createTestHost({ plugins: ['admin', plugin] });
    const say = async (text: string) => {
      host.you.say(host.general, text);
      await host.settled();
      return host.general.messages.at(-1)?.content;
    };
    expect(await say('!my-plugin world')).to.equal('Hello, world!');
    await say('!set my-plugin greeting Howdy');
    expect(await say('!my-plugin world')).to.equal('Howdy, world!');
  });
});
