import { createTestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';
import plugin from '../src/index.js';

describe('faq', () => {
  it('finds the answer to a question with a slip in it', async () => {
    await using host = await createTestHost({ plugins: [plugin] });
    const say = async (text: string) => {
      host.you.say(host.general, text);
      await host.settled();
      return host.general.messages.at(-1)?.content;
    };
    await say('!faq-add How do I join? | Ask in the lobby.');
    expect(await say('!faq how do i jion')).to.equal('Ask in the lobby.');
    expect(await say('!faq opening hours')).to.include('No one has answered that yet.');
  });
});
