import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalMessage } from '@cinnabar/local-discord';
import { say, scriptedLlm } from '@cinnabar/local-models';
import { expect } from 'chai';
import { inNewGuild } from '../../../support/shared-host.js';

describe('chat: `m`', () => {
  const llm = scriptedLlm((prompt) => say(prompt.text.includes('long') ? `${'A long answer. '.repeat(200)}` : 'Fine.'));
  let shared: TestHost;
  let host: TestHost;
  before(async () => {
    shared = await createTestHost({ plugins: ['accounts', 'admin', 'ai', 'chat', llm] });
  });
  after(() => shared[Symbol.asyncDispose]());
  beforeEach(async () => {
    host = await inNewGuild(shared);
  });
  afterEach(() => host[Symbol.asyncDispose]());

  const says = async (user: TestHost['alice'], text: string) => {
    user.say(host.general, text);
    await host.settled();
  };
  const texts = () => host.general.messages.map(({ content }) => content);
  const read = () =>
    (llm.requests.at(-1)?.messages ?? []).map(
      ({ participant, content }) =>
        `${participant}: ${content.map((block) => (block.type === 'text' ? block.text : '')).join('')}`,
    );

  it('lets the bot speak to what was said last, and takes the command away', async () => {
    await says(host.bob, 'It rains.');
    await says(host.alice, '!m');
    expect(texts()).to.deep.equal(['It rains.', 'Fine.']);
    expect(read()).to.deep.equal(['bob: It rains.', 'Cinnabar: ']);
    await says(host.alice, '!m activate');
    expect(texts()).to.deep.equal(['It rains.', 'Fine.', 'Fine.']);
  });

  it('has it go on with its last answer, for the one who asked', async () => {
    await says(host.alice, '!ai Hello');
    await says(host.alice, '!m continue');
    expect(texts()).to.deep.equal(['!ai Hello', 'Fine.', 'Fine.']);
    expect(read().slice(0, 2)).to.deep.equal(['alice: Hello', 'Cinnabar: Fine.']);
    expect(read()[2]).to.match(
      /^alice: \[asks you to go on with your last message: continue it exactly where it stops/,
    );
    expect(read()[3]).to.equal('Cinnabar: ');
  });

  it('continues the same way in reply to the cut-off answer, and explains that it cannot continue an earlier one', async () => {
    await says(host.alice, '!ai Hello');
    const earlier = host.general.messages.at(-1);
    llm.push(say('A story that is cut', { stop: 'max_tokens' }));
    await says(host.alice, '!ai Tell me a story');
    const [cut, notice] = host.general.messages.slice(-2);
    expect(notice?.content).to.match(/length limit/);
    const mContinue = async (replyTo: LocalMessage | undefined) => {
      host.alice.say(host.general, '!m continue', replyTo === undefined ? {} : { replyTo });
      await host.settled();
    };
    for (const replyTo of [undefined, cut, notice]) {
      const before = llm.requests.length;
      await mContinue(replyTo);
      expect(llm.requests.length).to.equal(before + 1);
      expect(read().at(-2)).to.match(/^alice: \[asks you to go on with your last message/);
      // The same answer continues.
      const [again] = host.general.messages.slice(-1);
      if (replyTo !== notice && again !== undefined) host.alice.say(host.general, '!m delete', { replyTo: again });
      await host.settled();
    }
    const before = llm.requests.length;
    await mContinue(earlier);
    expect(texts().at(-1)).to.equal('I can only continue my last answer, and that is an earlier one.');
    expect(llm.requests).to.have.length(before);
  });

  it('goes on within its own last words where the model has prefill', async () => {
    await says(host.you, '!set chat mode prefill');
    await says(host.alice, '!ai Hello');
    await says(host.alice, '!m continue');
    expect(read().at(-1)).to.equal('Cinnabar: Fine.');
    expect(llm.requests.at(-1)).to.include({ goesOn: true, mode: 'prefill' });
  });

  it('is for the bot that spoke last, or whose message it replies to', async () => {
    const other = host.discord.createApplication({ name: 'Other', owner: host.you });
    host.guild.invite(other);
    await says(host.alice, '!ai Hello');
    const mine = host.general.messages.at(-1);
    const theirs = other.user.say(host.general, 'I am another bot.');
    await host.settled();
    await says(host.alice, '!m delete');
    expect(texts().slice(0, 3)).to.deep.equal(['!ai Hello', 'Fine.', 'I am another bot.']);
    host.alice.say(host.general, '!m delete', { replyTo: theirs });
    await host.settled();
    expect(texts()).to.include('Fine.');
    host.alice.say(host.general, '!m delete', { ...(mine === undefined ? {} : { replyTo: mine }) });
    await host.settled();
    expect(texts()).to.not.include('Fine.');
  });

  it('takes the answer back that `m delete` replies to, not the last one', async () => {
    await says(host.alice, '!ai Hello');
    const first = host.general.messages.at(-1);
    await says(host.alice, '!ai Hello again');
    if (first === undefined) throw new Error('nothing was said');
    host.alice.say(host.general, '!m delete', { replyTo: first });
    await host.settled();
    expect(texts()).to.deep.equal(['!ai Hello', '!ai Hello again', 'Fine.']);
  });

  it('takes its last answer back, in all its parts', async () => {
    await says(host.alice, '!ai Hello');
    await says(host.alice, '!ai Something long');
    expect(host.general.messages).to.have.length(5);
    await says(host.alice, '!m delete');
    expect(texts()).to.deep.equal(['!ai Hello', 'Fine.', '!ai Something long']);
  });

  it('changes an answer for another member only for a moderator', async () => {
    const before = llm.requests.length;
    await says(host.alice, '!ai Hello');
    for (const what of ['delete', 'continue']) {
      await says(host.bob, `!m ${what}`);
      expect(texts().at(-1)).to.match(/^That answer was not for you/);
    }
    expect(llm.requests).to.have.length(before + 1);
    await says(host.you, '!m delete');
    expect(texts()).to.not.include('Fine.');
  });

  it('says so when there is nothing to go on with', async () => {
    await says(host.alice, '!m continue');
    expect(texts().at(-1)).to.equal('I have not answered anything here lately.');
  });
});
