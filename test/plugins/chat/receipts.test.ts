import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { say, scriptedLlm } from '@cinnabar/local-models';
import { Accounts } from '@cinnabar/sdk';
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

  it('names the provider as the cause when it read nothing although it should have', async () => {
    const reads = (cacheReadTokens: number) =>
      ({ kind: 'reply', text: 'Fine.', usage: { inputTokens: 900, outputTokens: 9, cacheReadTokens } }) as const;
    const llm = scriptedLlm([reads(0), reads(800), reads(0)]);
    await using host = await createTestHost({ plugins: ['accounts', 'ai', 'chat', llm] });
    for (let n = 0; n < 30; n += 1) host.bob.say(host.general, `${n}: ${'one word and another, '.repeat(10)}`);
    await host.settled();
    for (const _ of [1, 2, 3]) await ask(host, '!ai Hi');
    const receipts = await host.resolve(Accounts).receipts(host.general.id, 'chat');
    const causes = receipts.map(({ missCause }) => missCause ?? 'none').reverse();
    expect(causes.slice(1)).to.deep.equal([
      'none',
      'the provider no longer held an entry that should still have been there',
    ]);
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
