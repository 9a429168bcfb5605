import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalMessage, LocalUser } from '@cinnabar/local-discord';
import { definePlugin } from '@cinnabar/sdk';
import { expect } from 'chai';

const vault = definePlugin({
  manifest: { id: 'vault', version: '1.0.0', description: 'Keeps things' },
  setup: ({ command }) =>
    void command({ name: 'open', description: 'Open it', access: { tier: 'mod' }, run: (ctx) => ctx.reply('Open') }),
});

describe('!why about a message that was not answered', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost({ plugins: ['admin', 'accounts', vault] });
  });
  after(() => host[Symbol.asyncDispose]());
  const ask = async (who: LocalUser, replyTo: LocalMessage) => {
    who.say(host.general, '!why', { replyTo });
    await host.settled();
    return host.general.messages.at(-1)?.content ?? '';
  };
  const said = async (text: string) => {
    const message = host.alice.say(host.general, text);
    await host.settled();
    return message;
  };

  it('says that it was not said to the bot, and how it would be', async () => {
    expect(await ask(host.alice, await said('Hello everyone'))).to.match(
      /It was not said to me\. Start it with `!`, mention me/,
    );
    expect(await ask(host.alice, await said('.psst'))).to.include('starts with a dot');
  });

  it('names the refusal of a command, and a command that there is not', async () => {
    expect(await ask(host.alice, await said('!open'))).to.match(
      /The command `open`: .*you need to be at least a moderator/,
    );
    expect(await ask(host.alice, await said('!abracadabra'))).to.include('There is no command `abracadabra` here.');
    expect(await ask(host.alice, await said(`${host.bot} hi`))).to.include(
      'The plugin `ai`, which answers what is said to me, is off',
    );
  });

  it('tells members of their own messages alone, and admins of all', async () => {
    const message = await said('Hello again');
    expect(await ask(host.bob, message)).to.include('you need to be at least an admin');
    expect(await ask(host.you, message)).to.include('It was not said to me');
  });
});
