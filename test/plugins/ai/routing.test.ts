import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalChannel, LocalUser } from '@cinnabar/local-discord';
import { definePlugin } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createGate, createMind, type Mind } from './harness.js';

describe('ai: who answers', () => {
  let host: TestHost;
  let chat: Mind;
  let persona: Mind;

  beforeEach(async () => {
    chat = createMind('chat');
    persona = createMind('persona');
    host = await createTestHost({ plugins: ['ai', chat.plugin, persona.plugin] });
  });
  afterEach(() => host[Symbol.asyncDispose]());

  const answerTo = async (user: LocalUser, text: string, channel: LocalChannel = host.general): Promise<string> => {
    const asked = user.say(channel, text);
    await host.settled();
    return (await host.discord.expectMessage({ channel, author: host.bot, since: asked })).content;
  };

  it('is `chat` by default', async () => {
    expect(await answerTo(host.alice, '!ai Hello')).to.equal('chat heard: Hello');
    expect(await answerTo(host.alice, '!ai status')).to.match(/^Responder: `chat` \(the default\): Answers as chat\n/);
  });

  it('is chosen for the guild by its admins', async () => {
    expect(await answerTo(host.you, '!ai use persona')).to.equal('`persona` answers in this server now.');
    expect(await answerTo(host.alice, '!ai Hello')).to.equal('persona heard: Hello');
    expect(await answerTo(host.alice, '!ai status')).to.match(/^Responder: `persona` \(chosen for this server\)/);
    expect(await answerTo(host.you, '!ai use default')).to.equal('`chat` answers in this server now.');
  });

  it('can be one that is not set up, and then what is missing is said with the choice and in the status', async () => {
    const bare = definePlugin({
      manifest: { id: 'bare', version: '1.0.0', description: 'Needs something' },
      setup({ needsSetup, responder }) {
        needsSetup(() => ({ problem: 'No key is set.', remedy: 'The owner sets one.' }));
        responder({ name: 'bare', description: 'Needs a key', respond: async () => undefined });
      },
    });
    host.plugins.add(bare, { path: '(memory)' });
    await host.plugins.load('bare');
    const missing = '⚠️ It cannot answer yet: No key is set. The owner sets one.';
    expect(await answerTo(host.you, '!ai use bare')).to.equal(`\`bare\` answers in this server now.\n${missing}`);
    expect(await answerTo(host.alice, '!ai status')).to.include(missing);
    expect(await answerTo(host.you, '!ai use default')).to.not.include('⚠️');
  });

  it('is chosen for one channel, whose threads follow', async () => {
    const other = host.guild.createChannel({ name: 'other' });
    expect(await answerTo(host.you, '!ai use persona --here', other)).to.equal(
      '`persona` answers in this channel now.',
    );
    expect(await answerTo(host.alice, '!ai Hello')).to.equal('chat heard: Hello');
    expect(await answerTo(host.alice, '!ai Hello', other)).to.equal('persona heard: Hello');
    const thread = host.you.startThread(other, 'aside');
    expect(await answerTo(host.alice, '!ai Hello', thread)).to.equal('persona heard: Hello');
    expect(await answerTo(host.you, '!ai use chat', other)).to.match(/but this channel has its own choice: `persona`/);
  });

  it('cannot be chosen by others', async () => {
    expect(await answerTo(host.alice, '!ai use persona')).to.match(/^You may not do that: .*admin/);
    expect(await answerTo(host.alice, '!ai Hello')).to.equal('chat heard: Hello');
  });

  it('is listed without a name, and checked with one', async () => {
    expect(await answerTo(host.you, '!ai use')).to.equal(
      'Responders that can answer here:\n• `chat`: Answers as chat (answers here)\n• `persona`: Answers as persona',
    );
    expect(await answerTo(host.you, '!ai use perona')).to.equal(
      'Nothing called "perona" can answer here: the name is misspelled, or its plugin is switched off or not installed. Choose from: chat, persona.',
    );
  });

  it('has slash commands of its own, which suggest responders', async () => {
    const suggested = host.you.autocomplete(host.general, 'ai-use', 'responder', 'per');
    await host.settled();
    expect(suggested.choices?.map(({ value }) => value)).to.deep.equal(['persona']);
    const chosen = host.you.slash(host.general, 'ai-use', { responder: 'persona', here: true });
    await host.settled();
    expect(chosen.messages[0]?.content).to.equal('`persona` answers in this channel now.');
    const status = host.alice.slash(host.general, 'ai-status');
    await host.settled();
    expect(status.messages[0]?.content).to.match(/^Responder: `persona` \(chosen for this channel\)/);
    expect(status.messages[0]?.visibleTo).to.equal(host.alice);
  });

  it('treats sentences that only start like a subcommand as questions', async () => {
    for (const text of ['Use your head', 'use the force', 'Status', 'status of the party?', 'use persona please']) {
      expect(await answerTo(host.you, `!ai ${text}`)).to.equal(`chat heard: ${text}`);
    }
  });

  it('says so when the chosen one is gone', async () => {
    await answerTo(host.you, '!ai use persona');
    await host.plugins.unload('mind-persona');
    expect(await answerTo(host.alice, '!ai Hello')).to.equal(
      '"persona", which is chosen to answer here, is switched off or not installed. An admin can choose another with `ai use`, or switch it on with `plugin enable`.',
    );
    expect(await answerTo(host.alice, '!ai status')).to.match(/`persona` .* not available here at the moment/);
  });

  it('is waited for while it is reloaded, and after a while those who ask are told so', async () => {
    const gates = [createGate(), createGate()];
    let runs = 0;
    const slow = definePlugin({
      manifest: { id: 'mind-slow', version: '1.0.0', description: 'Starts slowly when it is reloaded' },
      async setup({ responder }) {
        await gates[runs++ - 1]?.passed;
        responder({
          name: 'slow',
          description: 'Is slow',
          respond: async (turn) => void (await turn.reply('Slowly.')),
        });
      },
    });
    host.plugins.add(slow, { path: '(memory)' });
    await host.plugins.load('mind-slow');
    await answerTo(host.you, '!ai use slow');

    let reloaded = host.plugins.reload('mind-slow');
    const first = host.alice.say(host.general, '!ai Hello');
    await host.discord.settled();
    gates[0]?.open();
    await reloaded;
    await host.settled();
    expect((await host.discord.expectMessage({ author: host.bot, since: first })).content).to.equal('Slowly.');

    reloaded = host.plugins.reload('mind-slow');
    const second = host.alice.say(host.general, '!ai Hello');
    await host.discord.settled();
    host.clock.advance(5_000);
    expect((await host.discord.expectMessage({ author: host.bot, since: second })).content).to.equal(
      '"slow" is being updated. Please ask again in a moment.',
    );
    gates[1]?.open();
    await reloaded;
  });
});
