import { createTestHost } from '@cinnabar/core/testing';
import { callTool, type ScriptedLlm, say, scriptedLlm } from '@cinnabar/local-models';
import { Accounts, ToolPolicies } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createShelf } from '../harness.js';

describe('chat: how much is sent for "hi"', () => {
  const PLUGINS = ['accounts', 'admin', 'ai', 'chat', 'confirm', 'discord-tools', 'party', 'tasks'];
  const names = (llm: ScriptedLlm, at: number) => (llm.requests[at]?.tools ?? []).map(({ name }) => name);

  it('few tools, none of Discord’s own; the same for members of different rights, so that the cached prefix stays', async () => {
    const llm = scriptedLlm(() => say('Hi.'));
    await using host = await createTestHost({ plugins: [...PLUGINS, llm, createShelf().plugin] });
    for (const person of [host.alice, host.you]) {
      person.say(host.general, `${host.bot} hi`);
      await host.settled();
    }
    const [first, second] = llm.requests;
    expect(names(llm, 0)).to.include('add_party_character').and.include('find_tools');
    expect(names(llm, 0).filter((name) => name.startsWith('discord_'))).to.deep.equal([]);
    expect(second?.tools).to.deep.equal(first?.tools);
    expect(second?.system).to.equal(first?.system);
    expect(second?.messages[0]).to.deep.equal(first?.messages[0]);
    // Examples are not sent: they are for the offline model.
    const sent = first?.tools?.map(({ examples: _examples, ...tool }) => tool);
    expect(JSON.stringify(sent).length).to.be.below(5_500);
  });

  it('Discord’s tools when the model looks for them, within the rights of the requester; always where a setting says so', async () => {
    const llm = scriptedLlm([
      callTool('find_tools', { need: 'read the last messages of a channel' }),
      say('Done.'),
      callTool('find_tools', { need: 'close the library' }),
      say('No.'),
    ]);
    await using host = await createTestHost({ plugins: [...PLUGINS, llm, createShelf().plugin] });
    const ask = async (text: string) => {
      host.alice.say(host.general, `${host.bot} ${text}`);
      await host.settled();
    };
    await ask('what was said in #general?');
    expect(names(llm, 1)).to.include('discord_read_messages');
    expect(names(llm, 1).slice(0, names(llm, 0).length)).to.deep.equal(names(llm, 0));
    await ask('close the library');
    expect(names(llm, 3)).to.not.include('close_library');
    host.you.say(host.general, '!set chat toolsOnDemand []');
    await host.settled();
    llm.push(say('Hi.'));
    await ask('hi');
    expect(names(llm, 4)).to.include('discord_read_messages');
  });

  it('and `!why` counts what was sent: messages that say nothing are not counted, tools and instructions are', async () => {
    const llm = scriptedLlm(() => say('Hi.'));
    await using host = await createTestHost({ plugins: [...PLUGINS, llm, createShelf().plugin] });
    await host.resolve(ToolPolicies).set(host.guild.id, 'take', 'deny');
    host.bob.say(host.general, 'Hello');
    host.bob.say(host.general, '.a dot message');
    host.alice.say(host.general, `${host.bot} hi`);
    await host.settled();
    const [receipt] = await host.resolve(Accounts).receipts(host.general.id, 'chat');
    const tools = llm.requests[0]?.tools?.length;
    expect(names(llm, 0)).to.not.include('take');
    expect(receipt?.details[0]).to.match(/^Read: 2 messages, about [\d,]+ tokens, 1 not shown to me/);
    expect(receipt?.details[2]).to.match(
      new RegExp(`^Of these tokens: about \\d+ of instructions, about [\\d,]+ of ${tools} tools$`),
    );
  });
});
