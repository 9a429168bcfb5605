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

  it('has that for its only obstacle', async () => {
    await using host = await createTestHost({ plugins: ['admin', 'tasks', 'llm'] });
    host.alice.say(host.general, '!diagnose me task');
    await host.settled();
    const said = host.general.messages.at(-1)?.content ?? '';
    expect(said).to.match(/\*\*First obstacle\*\*: No language model is set up\. \*\*Remedy\*\*: .*`llm status`/);
    expect(said).to.not.include('Also in the way');
  });
});
