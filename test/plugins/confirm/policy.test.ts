import { SettingsCatalog, ToolPolicies } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openDesk } from './desk.js';

describe('which calls need a confirmation', () => {
  for (const tool of ['look', 'errand', 'wipe']) {
    it(`"${tool}" does, without any setting`, async () => {
      await using desk = await openDesk();
      expect(await desk.call(desk.host.alice, { what: 'it' }, { tool })).to.have.property('status', 'deferred');
    });
  }

  it('the guild decides by risk, and only for itself', async () => {
    await using desk = await openDesk();
    const { alice, bot } = desk.host;
    await desk.configure('require', 'destructive');
    expect(await desk.call(alice, { what: 'it' }, { tool: 'look' })).to.have.property('status', 'done');
    expect(await desk.call(alice, { what: 'it' }, { tool: 'wipe' })).to.have.property('status', 'deferred');
    const elsewhere = { tool: 'look', channel: alice.openDm(bot) };
    expect(await desk.call(alice, { what: 'it' }, elsewhere)).to.have.property('status', 'deferred');
  });

  it('in a conversation everything asks me, and one setting of the server lets reading through', async () => {
    await using desk = await openDesk();
    const { alice } = desk.host;
    const session = { id: 'task-1', name: 'a task' };
    const look = async (more = {}) => (await desk.call(alice, { what: 'it' }, { tool: 'look', ...more })).status;
    expect([await look(), await look({ session })]).to.deep.equal(['deferred', 'done']);
    await desk.configure('require', 'write,destructive');
    expect(await look()).to.equal('done');
    await desk.configure('require', 'read,write,destructive');
    await desk.configure('readsInTasks', 'false');
    expect(await look({ session })).to.equal('deferred');
  });

  it('the policy of a tool goes before the risk', async () => {
    await using desk = await openDesk();
    const { alice, guild } = desk.host;
    const policies = desk.host.resolve(ToolPolicies);
    await policies.set(guild.id, 'wipe', 'allow');
    await policies.set(guild.id, 'look', 'confirm');
    await desk.configure('require', 'write');
    expect(await desk.call(alice, { what: 'it' }, { tool: 'wipe' })).to.have.property('status', 'done');
    expect(await desk.call(alice, { what: 'it' }, { tool: 'look' })).to.have.property('status', 'deferred');
  });

  it('no argument of a call can switch it off', async () => {
    await using desk = await openDesk();
    const outcome = await desk.call(desk.host.alice, { what: 'it', dry_run: true, confirmed: true });
    expect(outcome).to.have.property('status', 'deferred');
    expect(desk.runs).to.deep.equal([]);
  });

  it('a policy that changes to deny while the card waits is final', async () => {
    await using desk = await openDesk();
    const { alice, guild, settled } = desk.host;
    await desk.call(alice, { what: 'it' });
    await desk.host.resolve(ToolPolicies).set(guild.id, 'errand', 'deny');
    alice.react(desk.latest(), '👍');
    await settled();
    expect(desk.runs).to.deep.equal([]);
    expect(desk.latest().content).to.include('the policy of this server forbids it');
  });

  it('a wrong setting is refused with a reason', async () => {
    await using desk = await openDesk();
    const { you, guild, general } = desk.host;
    const actor = { userId: you.id, guildId: guild.id, channelId: general.id };
    for (const [key, value] of [
      ['timeLimit', '9'],
      ['timeLimit', '3601'],
      ['style', 'neon'],
      ['require', 'everything'],
    ] as const) {
      const failure = await desk.host
        .resolve(SettingsCatalog)
        .set('confirm', key, value, actor)
        .catch((error: unknown) => error);
      expect(failure).to.have.property('code', 'CINNABAR_SETTING_INVALID');
    }
  });
});

describe('how a card looks in a guild', () => {
  for (const [style, first] of [
    ['plain', '📋 Confirmation Required'],
    ['cyberpunk', '🔐 Security Clearance Required'],
    ['terminal', '> ERRANDS.exe'],
  ] as const) {
    it(style, async () => {
      await using desk = await openDesk();
      await desk.configure('style', style);
      await desk.call(desk.host.alice, { what: 'milk' });
      expect(desk.latest().content.split('\n')[0]).to.equal(first);
    });
  }

  it('with what is hidden in an argument shown, and everything attached when it is too long', async () => {
    await using desk = await openDesk();
    const what = `\u202ereversed\u200b ${'and '.repeat(700)}wipe it all`;
    await desk.call(desk.host.alice, { what });
    const card = desk.latest();
    expect(card.content).to.include('‹U+202E›reversed‹U+200B›').and.to.include('arguments.json');
    expect(card.content.length).to.be.at.most(2000);
    expect(card.attachments.map(({ filename }) => filename)).to.deep.equal(['arguments.json']);
    const [file] = card.attachments;
    if (file === undefined) throw new Error('a file is expected');
    expect(JSON.parse(Buffer.from(file.data).toString())).to.deep.equal({ what });
  });
});
