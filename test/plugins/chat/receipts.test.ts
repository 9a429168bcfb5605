import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { say, scriptedLlm } from '@cinnabar/local-models';
import { Accounts, Clock, definePlugin, PersonalDataStore, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';

describe('chat: what its answers cost', () => {
  const ask = async (host: TestHost, text: string) => {
    host.alice.say(host.general, text);
    await host.settled();
    return host.general.messages.at(-1)?.content ?? '';
  };

  it('is kept with the accounts, and why they were given', async () => {
    const llm = scriptedLlm([say('Hello!')]);
    await using host = await createTestHost({ plugins: ['accounts', 'ai', 'chat', llm] });
    await ask(host, '!ai Hi');
    const [receipt] = await host.resolve(Accounts).receipts(host.general.id, 'chat');
    expect(receipt?.trigger).to.equal('I was asked by command');
    expect(receipt?.actor).to.deep.equal({ userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id });
    expect(receipt?.messageIds).to.deep.equal([host.general.messages.at(-1)?.id]);
    expect(receipt?.details[0]).to.match(/^Read: 1 message, about \d+ tokens$/);
    expect(receipt?.details[1]).to.match(/^Cache: /);
  });

  it('is not spent once a budget is used up', async () => {
    using folder = makeFolder({ 'shared.yaml': 'budgets: {channel: {tokensPerDay: 1}}\n' });
    const llm = scriptedLlm([say('Hello!'), say('Never said.')]);
    await using host = await createTestHost({
      plugins: ['accounts', 'ai', 'chat', llm],
      configDir: folder.path,
    });
    expect(await ask(host, '!ai Hi')).to.equal('Hello!');
    expect(await ask(host, '!ai Hi')).to.match(
      /^I cannot answer at the moment: this channel's budget for today is used up/,
    );
    expect(llm.requests).to.have.length(1);
  });

  it('is told under the answer also where nothing is kept', async () => {
    const llm = scriptedLlm([say('Hello!')]);
    await using host = await createTestHost({ plugins: ['admin', 'ai', 'chat', llm] });
    host.you.say(host.general, '!set chat receipts true');
    await host.settled();
    expect(await ask(host, '!ai Hi')).to.match(/^-# \d+ fresh, /);
    expect(await ask(host, '!m delete')).to.contain('the plugin `accounts` is not loaded');
  });
});

describe('chat: receipts that it kept itself, before there were accounts', () => {
  const stored = z.object({ receipts: z.array(z.record(z.string(), z.unknown())) });
  /** An earlier version of the chat mind, as far as its receipts go. */
  const earlierChat = (place: { channelId: string; guildId: string; userId: string }) =>
    definePlugin({
      manifest: { id: 'chat', version: '1.0.0', description: 'Chat' },
      collections: { receipts: { scope: 'channel', version: 1, schema: stored } },
      inject: { clock: Clock },
      async setup({ collections, services: { clock } }) {
        const usage = { inputTokens: 900, outputTokens: 100, cacheCreationTokens: 0, cacheReadTokens: 0 };
        const receipt = {
          ...place,
          id: 'old',
          at: clock.now(),
          messageIds: ['500'],
          trigger: 'I was mentioned',
          model: 'claude-x',
          provider: 'anthropic',
          mode: 'chat',
          usage: { ...usage, cacheCreation1hTokens: 0 },
          calls: 1,
          cost: 0.01,
          facts: {
            messages: 3,
            hidden: 0,
            images: 0,
            estimatedTokens: 800,
            rolled: false,
            plan: 'kept',
            breakpoints: [],
          },
          tools: [],
        };
        await collections.receipts.of(place.channelId).set({ receipts: [receipt] });
      },
    });

  const open = async (plugins: readonly string[]) => {
    const world = await createTestHost({ plugins: [] });
    await world.stop();
    const { dataDir } = world;
    const place = { channelId: world.general.id, guildId: world.guild.id, userId: world.alice.id };
    const before = await createTestHost({ plugins: [earlierChat(place)], world, dataDir });
    await before.stop();
    return { world, host: await createTestHost({ plugins, world, dataDir }) };
  };

  it('go to the accounts with their sums, and are counted once', async () => {
    const { world, host } = await open(['accounts', 'chat']);
    await host.stop();
    const { dataDir } = world;
    await using again = await createTestHost({ plugins: ['accounts', 'chat'], world, dataDir });
    await using _ = world;
    again.alice.say(again.general, '!cost');
    await again.settled();
    expect(again.general.messages.at(-1)?.content).to.contain('You: 1 run, 1,000 tokens').and.contain('$0.010');
    const [receipt] = await again.resolve(Accounts).receipts(again.general.id);
    expect(receipt?.details).to.deep.equal(['Read: 3 messages, about 800 tokens', 'Cache: kept']);
  });

  it('stay the member’s to export and to delete while there are none', async () => {
    const { world, host } = await open(['chat']);
    await using _ = world;
    await using again = host;
    const data = again.resolve(PersonalDataStore);
    expect(JSON.stringify(await data.export(again.alice.id))).to.contain('I was mentioned');
    await data.forget(again.alice.id);
    expect(JSON.stringify(await data.export(again.alice.id))).to.not.contain('I was mentioned');
  });
});
