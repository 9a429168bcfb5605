import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { PersonalDataStore } from '@cinnabar/sdk';
import type { LocalUser } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { createTill, receipt } from './till.js';

const DAY = 24 * 3_600_000;

describe('chat money: what members are told', () => {
  let host: TestHost;
  let till: ReturnType<typeof createTill>;

  beforeEach(async () => {
    till = createTill();
    host = await createTestHost({ plugins: [till.plugin] });
  });
  afterEach(() => host[Symbol.asyncDispose]());

  const answer = (more: Partial<Parameters<typeof receipt>[0]> = {}) => {
    const place = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
    return till.accounts.record(receipt({ ...place, at: host.clock.now(), ...more }));
  };
  const ask = async (who: LocalUser, text: string) => {
    who.say(host.general, text);
    await host.settled();
    return host.general.messages.at(-1)?.content ?? '';
  };

  it('is why the last answer was given, from what, and what it cost', async () => {
    await answer({ missCause: 'the window rolled', notes: ['a range was refused'], configured: ['maxImages: 1'] });
    const text = await ask(host.bob, '!why');
    expect(text).to.match(/\*\*Why I answered\*\*: mention \(asked by <@\d+>, <t:\d+:R>\)/);
    expect(text).to.contain('claude-x by anthropic, chat mode, 2 calls');
    expect(text).to.contain('42 messages, 1 image, about 950 tokens, 3 not shown to me');
    expect(text).to.contain('kept for 5 minutes. Miss: the window rolled');
    expect(text).to.contain('100 fresh, 30 written (10 for an hour), 820 read, 50 output');
    expect(text).to.contain('**Cost**: $0.012');
    expect(text).to.contain('roll\\_dice (done)');
    expect(text).to.contain('maxImages: 1');
    expect(text).to.contain('a range was refused');
  });

  it('is about the answer that is replied to', async () => {
    const first = host.bob.say(host.general, 'an answer');
    await answer({ id: 'a', trigger: 'first', messageIds: [first.id] });
    await answer({ id: 'b', trigger: 'second', messageIds: ['12345'] });
    expect(await ask(host.bob, '!why')).to.contain('second');
    host.bob.say(host.general, '!why', { replyTo: first });
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.contain('first');
  });

  it('is a plain sentence when there is no receipt', async () => {
    expect(await ask(host.bob, '!why')).to.contain('I have not answered anything here that I have a receipt of.');
  });

  it('shows nothing that a model or a member made up as if it were markup', async () => {
    await answer({ tools: [{ name: '**bold**\n@everyone', outcome: '<@1>' }] });
    const text = await ask(host.bob, '!why');
    expect(text).to.contain('\\*\\*bold\\*\\*⏎\\@everyone (\\<@1>)');
  });

  it('is what oneself and the channel used today', async () => {
    await answer();
    await answer({ userId: host.bob.id });
    const text = await ask(host.alice, '!cost');
    expect(text).to.contain('You: 1 reply, 1,000 tokens (86% of the prompts read from the cache), $0.012');
    expect(text).to.contain('This channel: 2 replies, 2,000 tokens');
  });

  it('is what the channel used on each of the last days', async () => {
    await answer();
    await host.advance(DAY);
    await answer({ cost: null });
    const text = await ask(host.alice, '!cost channel');
    expect(text).to.contain('**This channel**, last 7 days (UTC): 2 replies, 2,000 tokens');
    expect(text).to.contain('$0.012, without 1 of unknown price');
    await host.advance(8 * DAY);
    expect(await ask(host.alice, '!cost channel')).to.contain('has used nothing in the last 7 days');
  });

  it('is what the server used, for its moderators alone', async () => {
    await answer();
    expect(await ask(host.alice, '!cost guild')).to.contain('is shown to its moderators');
    const text = await ask(host.you, '!cost guild');
    expect(text).to.contain('**This server**, last 7 days (UTC): 1 reply, 1,000 tokens');
    expect(text).to.contain(`Today by channel: <#${host.general.id}> 1,000 tokens`);
  });

  it('survives a restart, and forgets what is older than it keeps', async () => {
    for (let index = 0; index < 55; index++) await answer({ id: `${index}`, messageIds: [`${index}`] });
    await host.stop();
    await using again = await createTestHost({ plugins: [till.plugin], world: host, dataDir: host.dataDir });
    again.alice.say(again.general, '!cost channel');
    await again.settled();
    expect(again.general.messages.at(-1)?.content).to.contain('55 replies, 55,000 tokens');
    const kept = await again.resolve(PersonalDataStore).export(again.alice.id);
    expect(JSON.stringify(kept).match(/"trigger"/g)).to.have.lengthOf(50);
  });

  it('is forgotten with the member', async () => {
    await answer();
    await host.resolve(PersonalDataStore).forget(host.alice.id);
    expect(await ask(host.bob, '!why')).to.contain('receipt');
    expect(await ask(host.alice, '!cost')).to.contain('You: nothing yet');
    expect(await ask(host.alice, '!cost')).to.contain('This channel: 1 reply');
  });
});
