import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { hang, hangMidway, type ScriptedLlm, say, scriptedLlm } from '@cinnabar/local-models';
import { expect } from 'chai';

describe('chat: stopping an answer', () => {
  let host: TestHost;
  let llm: ScriptedLlm;
  beforeEach(async () => {
    llm = scriptedLlm([]);
    host = await createTestHost({ plugins: ['accounts', 'admin', 'ai', 'chat', llm] });
  });
  afterEach(() => host[Symbol.asyncDispose]());

  const texts = () => host.general.messages.map(({ content }) => content);
  const isCut = (index: number) => llm.requests[index]?.signal?.aborted === true;

  it('is given up when its question is deleted while the model writes: nothing is posted, and the request is aborted', async () => {
    llm.push(hang());
    const question = host.alice.say(host.general, '!ai Tell me everything');
    await llm.hanging();
    host.alice.delete(question);
    await host.settled();
    expect(isCut(0)).to.equal(true);
    expect(texts()).to.deep.equal([]);
  });

  it('is not posted, and no further request is made, when it arrives after its question was deleted', async () => {
    llm.push(hang(say('First.')), say('Second.'));
    const question = host.alice.say(host.general, `${host.bot} Tell me everything`);
    await llm.hanging();
    host.alice.delete(question);
    llm.release();
    await host.settled();
    expect(llm.requests).to.have.length(1);
    expect(texts()).to.deep.equal([]);
  });

  it('removes its visible part when its question is deleted', async () => {
    host.you.say(host.general, '!set chat streaming true');
    await host.settled();
    const before = texts();
    llm.push(hangMidway(say('Once upon a time there was a bot.')));
    const question = host.alice.say(host.general, '!ai Tell me');
    await llm.hanging();
    await host.discord.settled();
    expect(texts()).to.have.length(before.length + 2);
    host.alice.delete(question);
    await host.settled();
    expect(texts()).to.deep.equal(before);
  });

  it('ends at `m stop`, and what could be seen of it stays', async () => {
    host.you.say(host.general, '!set chat streaming true');
    await host.settled();
    llm.push(hangMidway(say('Once upon a time there was a bot.')));
    host.alice.say(host.general, '!ai Tell me');
    await llm.hanging();
    await host.discord.settled();
    const seen = texts().at(-1);
    host.alice.say(host.general, '!m stop');
    await host.settled();
    expect(isCut(0)).to.equal(true);
    // The visible part depends on the number of chunks before the first message.
    expect(seen).to.match(/^Once upon/);
    expect(texts().slice(-2)).to.deep.equal([seen, 'Stopped.']);
  });

  it('is stopped only by the requesting member or a moderator', async () => {
    llm.push(hang());
    host.alice.say(host.general, '!ai Tell me');
    await llm.hanging();
    host.bob.say(host.general, '!m stop');
    await host.discord.expectMessage({ content: /^That answer is not for you/ });
    expect(isCut(0)).to.equal(false);
    host.you.say(host.general, '!m stop');
    await host.settled();
    expect(isCut(0)).to.equal(true);
    expect(texts().at(-1)).to.equal('Stopped.');
  });

  it('is stopped for a slash command, too, which does not go on thinking', async () => {
    llm.push(hang());
    const slash = host.alice.slash(host.general, 'ai', { text: 'Tell me' });
    await llm.hanging();
    host.alice.say(host.general, '!m stop');
    await host.settled();
    expect(slash.messages.map(({ content }) => content)).to.deep.equal(['Stopped.']);
  });

  it('is withdrawn only for the member who stops it when it also answers others', async () => {
    llm.push(hang(say('First.')), hang(), say('For Bob.'));
    host.alice.say(host.general, '!ai one');
    await llm.hanging();
    host.bob.say(host.general, '!ai two');
    const mine = host.alice.say(host.general, '!ai three');
    await host.discord.settled();
    llm.release();
    await host.discord.expectMessage({ content: 'First.' });
    await llm.hanging();
    host.alice.delete(mine);
    await host.settled();
    expect(texts()).to.deep.equal(['!ai one', '!ai two', 'First.', 'For Bob.']);
    const last = llm.requests.at(-1)?.messages.map(({ content }) => JSON.stringify(content)) ?? [];
    expect(last.join()).to.include('two').and.not.include('three');
  });

  it('cannot be stopped by a member who is not being answered', async () => {
    host.alice.say(host.general, '!m stop');
    await host.settled();
    expect(texts().at(-1)).to.equal('I am not answering anything here.');
  });
});
