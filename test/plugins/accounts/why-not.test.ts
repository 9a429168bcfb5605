import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalMessage, LocalUser } from '@cinnabar/local-discord';
import { definePlugin, MessageDecisions } from '@cinnabar/sdk';
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

  it('names the rule by which it takes no notice, and what takes it back', async () => {
    const tell = async (text: string) => {
      host.you.say(host.general, text);
      await host.settled();
    };
    const message = await said('Hello, anybody?');
    await tell(`!ignore channel ${host.general}`);
    expect(await ask(host.you, message)).to.match(
      /denies everything in <#\d+>\. An admin takes it back with `ignore remove <#\d+>`/,
    );
    await tell(`!ignore remove ${host.general}`);
    await tell(`!block add ${host.alice}`);
    expect(await ask(host.you, await said('!open'))).to.match(/denies everything for <@\d+>\. .*`block remove <@\d+>`/);
    await tell(`!block remove ${host.alice}`);
  });

  it('knows whom else it could have been for', async () => {
    const application = host.discord.createApplication({ name: 'Other', owner: host.you });
    host.guild.invite(application, { permissions: ['ViewChannel', 'SendMessages'] });
    const other = application.user;
    const answer = other.say(host.general, 'I am another bot');
    const reply = host.alice.say(host.general, '!open', { replyTo: answer });
    await host.settled();
    expect(await ask(host.alice, reply)).to.include('It is a command in reply to another bot');
    // A prefix command in reply to another bot is for that bot; a mention is for this one.
    host.you.say(host.general, `${host.bot} why`, { replyTo: answer });
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.include('It was written by a bot or a webhook');
    const all = host.you.say(host.general, '@everyone hello');
    expect(await ask(host.you, all)).to.include('A mention of everyone or of a role does not count');
  });
});

describe('!why about a message that a mind did not take up', () => {
  it('works the reasons out when it is asked, from the rules as they are then, and notes nothing before', async () => {
    const settings = { chat: {}, persona: {} };
    await using host = await createTestHost({
      plugins: ['admin', 'accounts', 'ai', 'chat', 'llm', 'persona'],
      settings,
    });
    const ask = async (replyTo: LocalMessage) => {
      host.you.say(host.general, '!why', { replyTo });
      await host.settled();
      return host.general.messages.at(-1)?.content ?? '';
    };
    const tell = async (text: string) => {
      const message = host.you.say(host.general, text);
      await host.settled();
      return message;
    };
    const message = await tell('What a day');
    expect(host.resolve(MessageDecisions).of(message.id)).to.deep.equal([]);
    expect(await ask(message)).to.match(
      /It was not said to me.*\n.*`replyOnName` of `chat` is off.*\n.*`replyOnRandom` of `chat` is 0/,
    );
    await tell('!set chat replyOnName on');
    await tell('!set chat replyOnRandom 500');
    await host.advance(11_000);
    expect(await ask(message)).to.match(/does not have my name, .+, in it.*\n.*one message in 500 here, by chance/);
    await tell('!ai use persona');
    await tell('!set persona answersToName on');
    expect(await ask(message)).to.include('It does not call');
    await tell('!set persona answersToName off');
    expect(await ask(message)).to.include('`answersToName` of `persona` is off');
    await tell('!budget set server 0 tokens a day');
    await tell('!ai use chat');
    const mention = host.alice.say(host.general, `${host.bot} hello`);
    await host.settled();
    expect(await ask(mention)).to.match(/went to `chat`.*\n.*budget/);
  });
});
