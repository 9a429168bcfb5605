import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { callTool, say, scriptedLlm } from '@cinnabar/local-models';
import { type LlmRequest, PersonalDataStore } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createShelf, decide } from '../harness.js';

describe('chat: calls that were held', () => {
  const outline = (request: LlmRequest | undefined) =>
    (request?.messages ?? []).flatMap(({ participant, content }) =>
      content.flatMap((block): readonly string[] => {
        if (block.type === 'text') return block.text === '' ? [] : [`${participant}: ${block.text}`];
        if (block.type === 'tool_use') return [`use ${block.name} ${JSON.stringify(block.input)}`];
        return [block.type === 'tool_result' ? `result ${String(block.content)}` : block.type];
      }),
    );
  const talk = async (host: TestHost, text: string) => {
    host.alice.say(host.general, `!ai ${text}`);
    await host.settled();
  };

  it('appear on the next turns where they were made, with what has become of them', async () => {
    const llm = scriptedLlm([callTool('take', { thing: 'book' }), say('It waits.'), say('Done.')]);
    const shelf = createShelf();
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm, shelf.plugin, 'confirm'] });
    await talk(host, 'Take the book');
    host.bob.say(host.general, 'Which book?');
    await talk(host, 'Have you?');
    expect(outline(llm.requests[1])).to.deep.equal([
      'alice: Take the book',
      'use take {"thing":"book"}',
      'result Not run yet: it still waits for the confirmation of the member who asked. Do not say that it has run.',
      'bob: Which book?',
      'alice: Have you?',
    ]);
    await decide(host, '👍');
    expect(shelf.taken).to.deep.equal(['book']);
    await talk(host, 'And now?');
    expect(outline(llm.requests[2])[2]).to.equal('result done: book taken');
  });

  it('name the member below their result for people: no model reads that line', async () => {
    const llm = scriptedLlm([callTool('take', { thing: 'book' }), say('It waits.'), say('Done.')]);
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm, createShelf().plugin, 'confirm'] });
    await talk(host, 'Take the book');
    await decide(host, '👍');
    expect(host.general.messages.at(-1)?.content).to.equal(`book taken\n-# for ${host.alice}`);
    await talk(host, 'And now?');
    expect(JSON.stringify(llm.requests.at(-1)))
      .to.include('book taken')
      .and.not.include('-# for');
  });

  it('report 👎 and an unanswered card', async () => {
    const llm = scriptedLlm([callTool('take', { thing: 'a' }), callTool('take', { thing: 'b' }), say('Well.')]);
    const shelf = createShelf();
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm, shelf.plugin, 'confirm'] });
    await talk(host, 'Take a');
    await decide(host, '👎');
    await talk(host, 'Take b');
    await host.advance(61_000);
    await talk(host, 'And?');
    const told = outline(llm.requests[2]).filter((line) => line.startsWith('result'));
    expect(told[0]).to.match(/^result Cancelled by the member: it did not run/);
    expect(told[1]).to.match(/^result It did not run \(nobody confirmed it in time/);
    expect(shelf.taken).to.deep.equal([]);
  });

  it('pair each result with its call, also when several were made at once', async () => {
    const llm = scriptedLlm([callTool('take', { thing: 'a' }), callTool('take', { thing: 'b' }), say('Two wait.')]);
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm, createShelf().plugin, 'confirm'] });
    for (const text of ['Take a', 'Take b', 'Well?']) await talk(host, text);
    const messages = llm.requests[2]?.messages ?? [];
    const ids = (type: 'tool_use' | 'tool_result') =>
      messages.flatMap(({ content }) =>
        content.flatMap((block) => (block.type !== type ? [] : 'toolUseId' in block ? block.toolUseId : block.id)),
      );
    expect(ids('tool_use')).to.have.length(2).and.to.deep.equal(ids('tool_result'));
    expect(new Set(ids('tool_use')).size).to.equal(2);
  });

  it('stay in their channel', async () => {
    const llm = scriptedLlm([callTool('take', { thing: 'book' }), say('Hello.')]);
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm, createShelf().plugin, 'confirm'] });
    const other = host.guild.createChannel({ name: 'other' });
    await talk(host, 'Take the book');
    host.alice.say(other, '!ai Hello');
    await host.settled();
    expect(outline(llm.requests[1])).to.deep.equal(['alice: Hello']);
  });

  it('leave with the messages around them', async () => {
    const llm = scriptedLlm((prompt) =>
      prompt.text.includes('Take') ? callTool('take', { thing: 'book' }) : say('Fine.'),
    );
    await using host = await createTestHost({ plugins: ['admin', 'ai', 'chat', llm, createShelf().plugin, 'confirm'] });
    host.you.say(host.general, '!set chat history 3');
    await host.settled();
    await talk(host, 'Take the book');
    for (const text of ['one', 'two', 'three']) host.bob.say(host.general, text);
    await talk(host, 'Hello');
    expect(outline(llm.requests[1])).to.deep.equal(['bob: two', 'bob: three', 'alice: Hello']);
  });

  it('are not shown while their tool is not offered', async () => {
    const llm = scriptedLlm([callTool('take', { thing: 'book' }), say('Fine.')]);
    await using host = await createTestHost({ plugins: ['admin', 'ai', 'chat', llm, createShelf().plugin, 'confirm'] });
    await talk(host, 'Take the book');
    await host.plugins.disable(host.guild.id, 'shelf');
    await talk(host, 'Hello');
    expect(outline(llm.requests[1])).to.deep.equal(['alice: Take the book', 'alice: Hello']);
  });

  it('are part of what a member can export and have forgotten', async () => {
    const llm = scriptedLlm([callTool('take', { thing: 'book' }), say('Fine.')]);
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm, createShelf().plugin, 'confirm'] });
    await talk(host, 'Take the book');
    const store = host.resolve(PersonalDataStore);
    expect(JSON.stringify(await store.export(host.alice.id))).to.include('"thing":"book"');
    expect(JSON.stringify(await store.export(host.bob.id))).to.not.include('book');
    await store.forget(host.alice.id);
    expect(JSON.stringify(await store.export(host.alice.id))).to.not.include('book');
    await talk(host, 'Hello');
    expect(outline(llm.requests[1])).to.deep.equal(['alice: Take the book', 'alice: Hello']);
  });
});

describe('chat: with the confirmation plugin and the offline model', () => {
  it('holds a call, runs it after 👍, and reads on without taking the card for words of its own', async () => {
    await using host = await createTestHost({ plugins: ['ai', 'chat', 'llm', 'party', 'confirm'] });
    host.alice.say(host.general, "!ai Add V to my party, he's a Solo");
    await host.settled();
    const card = await host.discord.expectMessage({ author: host.bot, content: /Confirmation Required/ });
    host.alice.react(card, '👍');
    await host.settled();
    await host.discord.expectMessage({ author: host.bot, content: /^✓ V has been added to your party!/ });
    host.alice.say(host.general, '!ai Who is in my party?');
    await host.settled();
    const second = await host.discord.expectMessage({ author: host.bot, content: /members of your party/ });
    host.alice.react(second, '👍');
    await host.settled();
    await host.discord.expectMessage({ author: host.bot, content: /V.*Solo/ });
  });

  it('leaves cards out of what the model reads', async () => {
    const llm = scriptedLlm([callTool('add_party_character', { name: 'V', role: 'Solo' }), say('It waits.')]);
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm, 'party', 'confirm'] });
    for (const text of ['!ai Add V', '!ai Well?']) {
      host.alice.say(host.general, text);
      await host.settled();
    }
    const texts = (llm.requests[1]?.messages ?? []).flatMap(({ content }) =>
      content.flatMap((block) => (block.type === 'text' && block.text !== '' ? block.text : [])),
    );
    expect(texts).to.deep.equal(['Add V', 'Well?']);
  });
});
