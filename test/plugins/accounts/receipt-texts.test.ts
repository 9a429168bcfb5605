import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';
import { Accounts, PersonalDataStore, type Receipt } from '@cinnabar/sdk';
import { expect } from 'chai';
import { useSharedHost } from '../../support/shared-host.js';
import { receipt } from './receipt.js';

const DAY = 24 * 3_600_000;
const nobody = { userId: '0', guildId: null, channelId: '0' };

describe('accounts: what members are told', () => {
  const open = useSharedHost(() => ({ plugins: ['accounts'] }));
  let host: TestHost;
  let answers: number;

  beforeEach(async () => {
    answers = 0;
    host = await open();
  });
  afterEach(() => host[Symbol.asyncDispose]());

  const answer = (
    { userId, ...more }: Partial<Receipt> & { readonly userId?: string } = {},
    { alice, guild, general, clock, resolve }: TestHost = host,
  ) => {
    answers += 1;
    const actor = { userId: userId ?? alice.id, guildId: guild.id, channelId: general.id };
    return resolve(Accounts).record(receipt({ id: `${answers}`, actor, at: clock.now(), ...more }));
  };
  const ask = async (who: LocalUser, text: string) => {
    who.say(host.general, text);
    await host.settled();
    return host.general.messages.at(-1)?.content ?? '';
  };

  it('is why the last answer was given, from what, and what it cost', async () => {
    await answer({ missCause: 'the window rolled', notes: ['a range was refused'], configured: ['maxImages: 1'] });
    const text = await ask(host.bob, '!why');
    expect(text).to.match(/\*\*Why I answered\*\*: I was mentioned \(asked by <@\d+>, <t:\d+:R>\)/);
    expect(text).to.contain('claude-x by anthropic, chat mode, 2 calls');
    expect(text).to.contain('**Responder**: chat');
    expect(text).to.contain('**Read**: 42 messages, about 950 tokens');
    expect(text).to.contain('**Cache**: asked about every 20 s: kept for 5 minutes');
    expect(text).to.contain('**Cache miss**: the window rolled');
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
    expect(text).to.contain('You: 1 run, 1,000 tokens (86% of the prompts read from the cache), $0.012');
    expect(text).to.contain('This channel: 2 runs, 2,000 tokens');
  });

  it('is what the channel used on each of the last days', async () => {
    await answer();
    await host.advance(DAY);
    await answer({ cost: null });
    const text = await ask(host.alice, '!cost channel');
    expect(text).to.contain('**This channel**, last 7 days (UTC): 2 runs, 2,000 tokens');
    expect(text).to.contain('$0.012, without 1 of unknown price');
    await host.advance(8 * DAY);
    expect(await ask(host.alice, '!cost channel')).to.contain('has used nothing in the last 7 days');
  });

  it('is what the server used, for its moderators alone', async () => {
    await answer();
    expect(await ask(host.alice, '!cost guild')).to.contain('Only moderators can see');
    const text = await ask(host.you, '!cost guild');
    expect(text).to.contain('**This server**, last 7 days (UTC): 1 run, 1,000 tokens');
    expect(text).to.contain(`Today by channel: <#${host.general.id}> 1,000 tokens`);
  });

  it('`!cost guild` says that budgets hold for this bot alone, not for all bots of the installation together', async () => {
    expect(await ask(host.you, '!cost guild')).to.contain('budgets hold for it alone: other bots count their own');
  });

  it('survives a restart, and forgets what is older than it keeps', async () => {
    await using first = await createTestHost({ plugins: ['accounts'] });
    for (let index = 0; index < 55; index++) await answer({ id: `${index}`, messageIds: [`${index}`] }, first);
    await first.stop();
    await using again = await createTestHost({ plugins: ['accounts'], world: first, dataDir: first.dataDir });
    again.alice.say(again.general, '!cost channel');
    await again.settled();
    expect(again.general.messages.at(-1)?.content).to.contain('55 runs, 55,000 tokens');
    const kept = await again.resolve(PersonalDataStore).export(again.alice.id);
    expect(JSON.stringify(kept).match(/"trigger"/g)).to.have.lengthOf(50);
  });

  it('is forgotten with the member', async () => {
    await answer();
    await host.resolve(PersonalDataStore).forget(host.alice.id);
    expect(await ask(host.bob, '!why')).to.contain('receipt');
    expect(await ask(host.alice, '!cost')).to.contain('You: nothing yet');
    expect(await ask(host.alice, '!cost')).to.contain('This channel: 1 run');
  });

  it('is, under the same id, the newer receipt; only the difference is added', async () => {
    await answer({ id: 'task', messageIds: [], trigger: 'I work on a task', calls: 1 });
    await answer({
      id: 'task',
      messageIds: ['501'],
      trigger: 'I finished a task',
      calls: 3,
      cost: 0.05,
      usage: { ...receipt({ actor: nobody, at: 0 }).usage, inputTokens: 600 },
    });
    expect(await ask(host.alice, '!cost'))
      .to.contain('You: 1 run, 1,500 tokens')
      .and.contain('$0.050');
    const kept = await host.resolve(Accounts).receipts(host.general.id);
    expect(kept.map(({ trigger, calls }) => `${trigger} ${calls}`)).to.deep.equal(['I finished a task 3']);
  });

  it('is what each mind did: one that works a lot does not push out another’s answers', async () => {
    await answer({ id: 'first', messageIds: ['600'] });
    for (let index = 0; index < 60; index++) await answer({ mind: 'tasks', trigger: 'I work on a task' });
    const accounts = host.resolve(Accounts);
    expect((await accounts.receipts(host.general.id, 'chat')).map(({ id }) => id)).to.deep.equal(['first']);
    const tasks = await accounts.receipts(host.general.id, 'tasks');
    expect(tasks.map(({ id }) => id)).to.deep.equal(Array.from({ length: 50 }, (_, index) => `${61 - index}`));
  });

  it('is that nothing was said, when nothing was', async () => {
    await answer({
      messageIds: [],
      mind: 'persona',
      trigger: 'I thought about what was said',
      details: ['I kept silent'],
    });
    const text = await ask(host.bob, '!why');
    expect(text).to.contain('**Why I was active without sending a message**: I thought about what was said');
    expect(text).to.contain('**Responder**: persona').and.contain('• I kept silent');
  });
});
