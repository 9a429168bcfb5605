import { SettingsCatalog, ToolPolicies } from '@cinnabar/sdk';
import { expect } from 'chai';
import { shareHarness } from './harness.js';

describe('which calls need a confirmation', () => {
  const open = shareHarness();
  for (const tool of ['look', 'errand', 'wipe']) {
    it(`"${tool}" does, without any setting`, async () => {
      await using harness = await open();
      expect(await harness.call(harness.host.alice, { what: 'it' }, { tool })).to.have.property('status', 'deferred');
    });
  }

  it('the guild decides by risk, and only for itself', async () => {
    await using harness = await open();
    const { alice, bot } = harness.host;
    await harness.configure('require', 'destructive');
    expect(await harness.call(alice, { what: 'it' }, { tool: 'look' })).to.have.property('status', 'done');
    expect(await harness.call(alice, { what: 'it' }, { tool: 'wipe' })).to.have.property('status', 'deferred');
    const elsewhere = { tool: 'look', channel: alice.openDm(bot) };
    expect(await harness.call(alice, { what: 'it' }, elsewhere)).to.have.property('status', 'deferred');
  });

  it('in a conversation everything asks me, and one setting of the server lets reading through', async () => {
    await using harness = await open();
    const { alice } = harness.host;
    const session = { id: 'task-1', name: 'a task' };
    const look = async (more = {}) => (await harness.call(alice, { what: 'it' }, { tool: 'look', ...more })).status;
    expect([await look(), await look({ session })]).to.deep.equal(['deferred', 'done']);
    await harness.configure('require', 'write,destructive');
    expect(await look()).to.equal('done');
    await harness.configure('require', 'read,write,destructive');
    await harness.configure('readsInTasks', 'false');
    expect(await look({ session })).to.equal('deferred');
  });

  it('the policy of a tool goes before the risk', async () => {
    await using harness = await open();
    const { alice, guild } = harness.host;
    const policies = harness.host.resolve(ToolPolicies);
    await policies.set(guild.id, 'wipe', 'allow');
    await policies.set(guild.id, 'look', 'confirm');
    await harness.configure('require', 'write');
    expect(await harness.call(alice, { what: 'it' }, { tool: 'wipe' })).to.have.property('status', 'done');
    expect(await harness.call(alice, { what: 'it' }, { tool: 'look' })).to.have.property('status', 'deferred');
  });

  it('no argument of a call can switch it off', async () => {
    await using harness = await open();
    const outcome = await harness.call(harness.host.alice, { what: 'it', dry_run: true, confirmed: true });
    expect(outcome).to.have.property('status', 'deferred');
    expect(harness.runs).to.deep.equal([]);
  });

  it('a policy that changes to deny while the card waits is final', async () => {
    await using harness = await open();
    const { alice, guild, settled } = harness.host;
    await harness.call(alice, { what: 'it' });
    await harness.host.resolve(ToolPolicies).set(guild.id, 'errand', 'deny');
    alice.react(harness.latest(), '👍');
    await settled();
    expect(harness.runs).to.deep.equal([]);
    expect(harness.latest().content).to.include('the policy of this server forbids it');
  });

  it('a wrong setting is refused with a reason', async () => {
    await using harness = await open();
    const { you, guild, general } = harness.host;
    const actor = { userId: you.id, guildId: guild.id, channelId: general.id };
    for (const [key, value] of [
      ['timeLimit', '9'],
      ['timeLimit', '3601'],
      ['style', 'neon'],
      ['require', 'everything'],
    ] as const) {
      const failure = await harness.host
        .resolve(SettingsCatalog)
        .set('confirm', key, value, actor)
        .catch((error: unknown) => error);
      expect(failure).to.have.property('code', 'CINNABAR_SETTING_INVALID');
    }
  });
});

describe('how a card looks in a guild', () => {
  const open = shareHarness();
  for (const [style, first] of [
    ['plain', '📋 Confirmation Required'],
    ['cyberpunk', '🔐 Security Clearance Required'],
    ['terminal', '> ERRANDS.exe'],
  ] as const) {
    it(style, async () => {
      await using harness = await open();
      await harness.configure('style', style);
      await harness.call(harness.host.alice, { what: 'milk' });
      expect(harness.latest().content.split('\n')[0]).to.equal(first);
    });
  }

  it('with what is hidden in an argument shown, and everything attached when it is too long', async () => {
    await using harness = await open();
    const what = `\u202ereversed\u200b ${'and '.repeat(700)}wipe it all`;
    await harness.call(harness.host.alice, { what });
    const card = harness.latest();
    expect(card.content).to.include('‹U+202E›reversed‹U+200B›').and.to.include('arguments.json');
    expect(card.content.length).to.be.at.most(2000);
    expect(card.attachments.map(({ filename }) => filename)).to.deep.equal(['arguments.json']);
    const [file] = card.attachments;
    if (file === undefined) throw new Error('a file is expected');
    expect(JSON.parse(Buffer.from(file.data).toString())).to.deep.equal({ what });
  });
});
