import { createTestHost } from '@cinnabar/core/testing';
import { callTool, callToolRaw, callTools, fail, hang, refuse, say, scriptedLlm } from '@cinnabar/local-models';
import { Ledger, type LlmRequest } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createGate } from '../ai/harness.js';
import { createShelf, letLook } from './harness.js';

describe('chat: tools', () => {
  const offered = (request: LlmRequest | undefined) => (request?.tools ?? []).map(({ name }) => name);
  const blocks = (request: LlmRequest | undefined) => (request?.messages ?? []).flatMap(({ content }) => content);
  const results = (request: LlmRequest | undefined) =>
    blocks(request).flatMap((block) => (block.type === 'tool_result' ? [[block.content, block.isError ?? false]] : []));

  it('are those that every member may use, with their examples, for every requester: others can be searched', async () => {
    const llm = scriptedLlm(() => say('Fine.'));
    await using host = await createTestHost({ plugins: ['admin', 'ai', 'chat', llm, createShelf().plugin, 'confirm'] });
    await letLook(host);
    host.alice.say(host.general, '!ai Hello');
    host.you.say(host.general, '!ai Hello');
    await host.settled();
    expect(offered(llm.requests[0])).to.deep.equal(['look', 'take', 'find_tools']);
    expect(llm.requests[0]?.tools?.[0]?.examples).to.deep.equal(['look at {shelf}']);
    expect(llm.requests[1]?.tools).to.deep.equal(llm.requests[0]?.tools);
    host.you.say(host.general, '!plugin disable shelf');
    await host.settled();
    host.you.say(host.general, '!ai Hello');
    await host.settled();
    expect(offered(llm.requests[2])).to.deep.equal([]);
  });

  it('run, and the model speaks about the result', async () => {
    const llm = scriptedLlm([callTool('look', { shelf: 'A' }), say('There is a book.')]);
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm, createShelf().plugin, 'confirm'] });
    await letLook(host);
    host.alice.say(host.general, '!ai What is on A?');
    await host.settled();
    expect(results(llm.requests[1])).to.deep.equal([['On A: a book', false]]);
    await host.discord.expectMessage({ author: host.bot, content: 'There is a book.' });
  });

  it('run for the member who asks: what that member may not use is refused whatever the model wants', async () => {
    const llm = scriptedLlm([callTool('close_library'), say('I may not.')]);
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm, createShelf().plugin, 'confirm'] });
    await letLook(host);
    host.alice.say(host.general, '!ai Close the library');
    await host.settled();
    const [[reason, isError] = []] = results(llm.requests[1]);
    expect(reason).to.match(/close_library may not be used: .*admin/);
    expect(isError).to.equal(true);
  });

  it('tell the model why they failed', async () => {
    const llm = scriptedLlm([callTool('look', { shelf: 'hidden' }), callTool('nothing'), say('Sorry.')]);
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm, createShelf().plugin, 'confirm'] });
    await letLook(host);
    host.alice.say(host.general, '!ai Look');
    await host.settled();
    expect(results(llm.requests[2])).to.deep.equal([
      ['There is no such shelf.', true],
      ['There is no tool called "nothing".', true],
    ]);
  });

  it('that are all held end the turn: the model is not asked again', async () => {
    const llm = scriptedLlm([callTools([{ name: 'take', arguments: { thing: 'book' } }], { text: 'I will ask.' })]);
    const shelf = createShelf();
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm, shelf.plugin, 'confirm'] });
    host.alice.say(host.general, '!ai Take the book');
    await host.settled();
    expect(llm.requests).to.have.length(1);
    expect(shelf.taken).to.deep.equal([]);
    const said = host.general.messages.slice(1).map(({ content }) => content);
    expect(said[0]).to.equal('I will ask.');
    expect(said[1]).to.match(/^📋 Confirmation Required/);
    expect(said).to.have.length(2);
  });

  it('that are partly held tell the model which have not run', async () => {
    const llm = scriptedLlm([
      callTools([
        { name: 'take', arguments: { thing: 'book' } },
        { name: 'look', arguments: { shelf: 'A' } },
      ]),
      say('Looked.'),
    ]);
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm, createShelf().plugin, 'confirm'] });
    await letLook(host);
    host.alice.say(host.general, '!ai Take and look');
    await host.settled();
    const [held, looked] = results(llm.requests[1]);
    expect(held?.[0]).to.match(/not run yet/i);
    expect(looked).to.deep.equal(['On A: a book', false]);
  });

  it('with invalid arguments are answered with the sentence of the seed, and the conversation continues', async () => {
    const llm = scriptedLlm([callToolRaw('look', '{"shelf": '), say('Yes?')]);
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm, createShelf().plugin, 'confirm'] });
    await letLook(host);
    host.alice.say(host.general, '!ai Look');
    host.alice.say(host.general, '!ai Hello?');
    await host.settled();
    const said = host.general.messages.filter(({ author }) => author.bot).map(({ content }) => content);
    expect(said).to.deep.equal(["I couldn't process that request. Please try again.", 'Yes?']);
  });

  it('are used for a limited number of rounds', async () => {
    const llm = scriptedLlm(() => callTool('look', { shelf: 'A' }));
    await using host = await createTestHost({ plugins: ['admin', 'ai', 'chat', llm, createShelf().plugin, 'confirm'] });
    await letLook(host);
    host.you.say(host.general, '!set chat maxToolDepth 2');
    await host.settled();
    host.alice.say(host.general, '!ai Look for ever');
    await host.settled();
    expect(llm.requests).to.have.length(3);
    await host.discord.expectMessage({
      author: host.bot,
      content: 'I stopped here: 2 rounds of tool calls is the limit for one answer.',
    });
    expect(await host.resolve(Ledger).recent({ limit: 10 })).to.have.length(2);
  });

  it('speak for themselves when the model says nothing about them', async () => {
    const llm = scriptedLlm([callTool('look', { shelf: 'A' }), say(' ')]);
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm, createShelf().plugin, 'confirm'] });
    await letLook(host);
    host.alice.say(host.general, '!ai Look');
    await host.settled();
    await host.discord.expectMessage({ author: host.bot, content: 'On A: a book' });
  });
});

describe('chat: when the model does not answer', () => {
  const cases = [
    ['it says nothing', say(''), 'The language model had nothing to say to this. Please try to put it differently.'],
    ['it refuses without a word', refuse(''), 'The language model declined to answer this.'],
    ['it is busy', fail(429), 'The language model is busy; please try again in a moment.'],
    ['it cannot be reached', fail(503), 'The language model cannot be reached at the moment.'],
  ] as const;
  for (const [when, step, sentence] of cases) {
    it(`says so: ${when}`, async () => {
      const llm = scriptedLlm([step]);
      await using host = await createTestHost({ plugins: ['ai', 'chat', llm] });
      host.alice.say(host.general, '!ai Hello');
      await host.settled();
      await host.discord.expectMessage({ author: host.bot, content: sentence });
    });
  }

  it('says so: there is none', async () => {
    await using host = await createTestHost({ plugins: ['ai', 'chat'] });
    host.alice.say(host.general, '!ai Hello');
    await host.settled();
    await host.discord.expectMessage({ author: host.bot, content: /^No language model is set up/ });
  });

  it('says so: it was stopped while the model was thinking', async () => {
    const gate = createGate();
    const llm = scriptedLlm(() => {
      gate.open();
      return hang(say('Too late.'));
    });
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm] });
    host.alice.say(host.general, '!ai Hello');
    await gate.passed;
    const unloaded = host.plugins.unload('chat');
    await host.discord.settled();
    host.clock.advance(10_000);
    await unloaded;
    await host.discord.expectMessage({
      author: host.bot,
      content: 'The request to the language model was cancelled.',
    });
  });

  it('says that an answer was cut off', async () => {
    const llm = scriptedLlm([say('Once upon a', { stop: 'max_tokens' })]);
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm] });
    host.alice.say(host.general, '!ai Tell me a story');
    await host.settled();
    await host.discord.expectMessage({ author: host.bot, content: 'Once upon a' });
    await host.discord.expectMessage({ author: host.bot, content: /length limit/ });
  });
});
