import { createTestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';

describe('a task without a language model', () => {
  it('is not begun, and says what it needs', async () => {
    await using host = await createTestHost({ plugins: ['tasks', 'llm'] });
    host.alice.say(host.general, '!task count to ten');
    await host.settled();
    const said = host.general.messages.filter(({ author }) => author.id === host.bot.id).map(({ content }) => content);
    expect(said).to.have.length(1);
    expect(said[0]).to.match(/needs a language model/);
  });
});
