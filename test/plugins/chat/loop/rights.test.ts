import { createTestHost } from '@cinnabar/core/testing';
import { callTool, hang, say, scriptedLlm } from '@cinnabar/local-models';
import { type LlmRequest, ToolPolicies } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createShelf, letLook } from '../harness.js';

const offered = (request: LlmRequest | undefined) => (request?.tools ?? []).map(({ name }) => name);

describe('chat: whose rights a turn has', () => {
  it('are those that all answered members have: no member gets the rights of another', async () => {
    const llm = scriptedLlm([hang(say('One moment.')), callTool('close_library'), say('I may not.')]);
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm, createShelf().plugin] });
    await host.resolve(ToolPolicies).set(host.guild.id, 'close_library', 'allow');
    host.alice.say(host.general, `${host.bot} hello`);
    await llm.hanging();
    host.alice.say(host.general, `${host.bot} close the library`);
    host.you.say(host.general, `${host.bot} hello`);
    await host.discord.settled();
    llm.release();
    await host.settled();
    expect(llm.requests).to.have.length(3);
    expect(offered(llm.requests[1])).to.not.include('close_library');
    expect(JSON.stringify(llm.requests[2]?.messages)).to.include('close_library is not available');
    host.you.say(host.general, `${host.bot} and now?`);
    llm.push(callTool('find_tools', { need: 'close the library' }), say('Now I could.'));
    await host.settled();
    expect(offered(llm.requests[3])).to.not.include('close_library');
    expect(offered(llm.requests[4])).to.include('close_library');
  });

  it('are none for a bot: people may be speaking through it', async () => {
    const llm = scriptedLlm(() => say('Hello.'));
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm, createShelf().plugin] });
    await letLook(host);
    const other = host.discord.createApplication({ name: 'Other', owner: host.you });
    host.guild.invite(other);
    other.user.say(host.general, `${host.bot} look at A`);
    await host.settled();
    expect(offered(llm.requests[0])).to.deep.equal([]);
  });
});

describe('chat: what is remembered of a channel', () => {
  it('is written before the answer is sent, and survives a restart: the next request begins as the last one', async () => {
    const llm = scriptedLlm(() => say('Fine.'));
    const first = await createTestHost({ plugins: ['ai', 'chat', llm] });
    first.bob.say(first.general, 'Hello');
    first.alice.say(first.general, `${first.bot} one`);
    await first.settled();
    await first.stop();
    await using second = await createTestHost({ plugins: ['ai', 'chat', llm], world: first, dataDir: first.dataDir });
    second.alice.say(second.general, `${second.bot} two`);
    await second.settled();
    const texts = (request: LlmRequest | undefined) => (request?.messages ?? []).map(({ content }) => content);
    const before = texts(llm.requests[0]).slice(0, -1);
    expect(texts(llm.requests[1]).slice(0, before.length)).to.deep.equal(before);
    expect(llm.requests[1]?.system).to.equal(llm.requests[0]?.system);
    await first[Symbol.asyncDispose]();
  });
});
