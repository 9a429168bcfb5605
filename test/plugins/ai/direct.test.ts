import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { definePlugin } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createMind } from './harness.js';

describe('ai: who answers direct messages', () => {
  let host: TestHost;
  const quiet = definePlugin({
    manifest: { id: 'quiet', version: '1.0.0', description: 'A mind that shows typing itself' },
    setup: ({ responder }) =>
      responder({ name: 'quiet', description: 'Types itself', typesItself: true, respond: async () => {} }),
  });
  beforeEach(async () => {
    host = await createTestHost({ plugins: ['ai', createMind('chat').plugin, createMind('relay').plugin, quiet] });
  });
  afterEach(() => host[Symbol.asyncDispose]());

  it('is the responder that each user has chosen for their own', async () => {
    const [alices, bobs] = [host.alice.openDm(host.application), host.bob.openDm(host.application)];
    host.alice.say(alices, '!ai use relay');
    await host.discord.expectMessage({ channel: alices, content: '`relay` answers your direct messages now.' });
    host.alice.say(alices, 'Hello');
    await host.discord.expectMessage({ channel: alices, content: 'relay heard: Hello' });
    host.bob.say(bobs, 'Hello');
    await host.discord.expectMessage({ channel: bobs, content: 'chat heard: Hello' });
    host.alice.say(alices, '!ai status');
    await host.discord.expectMessage({ channel: alices, content: /`relay` \(your choice\)/ });

    host.alice.say(alices, '!ai use default');
    await host.discord.expectMessage({ channel: alices, content: '`chat` answers your direct messages now.' });
  });

  it('changes nothing in a server', async () => {
    host.alice.say(host.alice.openDm(host.application), '!ai use relay');
    await host.settled();
    host.alice.say(host.general, '!ai Hello');
    await host.discord.expectMessage({ channel: host.general, content: 'chat heard: Hello' });
    host.alice.say(host.general, '!ai use relay');
    await host.discord.expectMessage({ channel: host.general, content: /You may not do that/ });
  });

  it('leaves typing to a mind that shows it itself', async () => {
    let typed = 0;
    const stop = host.discord.observe(({ type }) => {
      if (type === 'typing') typed += 1;
    });
    const dm = host.alice.openDm(host.application);
    host.alice.say(dm, '!ai use quiet');
    await host.settled();
    host.alice.say(dm, 'Hello');
    await host.settled();
    expect(typed).to.equal(0);
    host.alice.say(host.general, '!ai Hello');
    await host.settled();
    expect(typed).to.equal(1);
    stop();
  });
});
