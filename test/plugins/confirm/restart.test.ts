import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ledger, PersonalDataStore } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type Desk, openDesk, settledOf } from './desk.js';

/** The bot dies at once: what is on the disk at this moment is what the next one finds, and nothing more is said in Discord. */
async function crash({ host }: Desk): Promise<{ dataDir: string } & AsyncDisposable> {
  const dataDir = await mkdtemp(join(tmpdir(), 'cinnabar-crash-'));
  await cp(host.dataDir, dataDir, { recursive: true });
  const gone = { method: 'PATCH', times: Number.POSITIVE_INFINITY, body: { message: 'Unknown Message', code: 10008 } };
  host.discord.faults.rest.fail(404, gone);
  await host.stop();
  host.discord.faults.rest.clear();
  return { dataDir, [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) };
}

describe('confirmations over a restart', () => {
  it('marks what was pending as timed out at the start, and never runs it', async () => {
    await using before = await openDesk();
    const { alice, settled } = before.host;
    const outcome = await before.call(alice, { what: 'milk' });
    await before.call(alice, { what: 'bread' });
    await using left = await crash(before);
    expect(before.said().every(({ content }) => content.startsWith('📋'))).to.equal(true);

    await using after = await openDesk({ world: before.host, dataDir: left.dataDir });
    await after.host.settled();
    expect(after.said()).to.have.length(2);
    for (const { content } of after.said())
      expect(content)
        .to.match(/^~~📋/)
        .and.to.match(/\n\n⏱️ Request timed out$/);
    for (const card of after.said()) alice.react(card, '👍');
    await settled();
    await after.host.settled();
    expect([...before.runs, ...after.runs]).to.deep.equal([]);
    expect(await after.host.resolve(Ledger).get(outcome.callId)).to.have.property('state', 'expired');
  });

  it('finds a card whose delivery was never confirmed', async () => {
    await using before = await openDesk();
    const { alice, discord } = before.host;
    const route = '/channels/:channelId/messages';
    discord.faults.rest.drop({ method: 'POST', route, afterEffect: true, times: 2 });
    expect(await before.call(alice, { what: 'milk' })).to.have.property('status', 'expired');
    await using left = await crash(before);
    expect(before.latest().content).to.match(/^📋/);

    await using after = await openDesk({ world: before.host, dataDir: left.dataDir });
    expect(after.latest().content).to.match(/Request timed out$/);
  });

  it('leaves decided cards as they are, and asks Discord for nothing', async () => {
    await using before = await openDesk();
    const { alice, discord, settled } = before.host;
    await before.call(alice, { what: 'milk' });
    alice.react(before.latest(), '👍');
    await settled();
    await using left = await crash(before);
    discord.requests.reset();

    await using after = await openDesk({ world: before.host, dataDir: left.dataDir });
    expect(after.said().map(({ content }) => content.slice(0, 2))).to.deep.equal(['📋', '✓ ']);
    expect(discord.requests.all.filter(({ path }) => path.includes('/messages'))).to.deep.equal([]);
  });

  it('forgets a card that is gone', async () => {
    await using before = await openDesk();
    const { alice, bot, discord } = before.host;
    await before.call(alice, { what: 'milk' });
    await using left = await crash(before);
    bot.delete(before.latest());
    await using after = await openDesk({ world: before.host, dataDir: left.dataDir });
    await after.host.stop();
    discord.requests.reset();
    await using later = await openDesk({ world: before.host, dataDir: left.dataDir });
    expect(discord.requests.all.filter(({ path }) => path.includes('/messages'))).to.deep.equal([]);
    expect(later.runs).to.deep.equal([]);
  });

  it('ends and marks everything when the plugin stops', async () => {
    await using desk = await openDesk();
    const { alice, plugins, settled } = desk.host;
    const outcomes = [await desk.call(alice, { what: 'milk' }), await desk.call(alice, { what: 'bread' })];
    await plugins.unload('confirm');
    expect(desk.said().map(({ content }) => /Request timed out$/.test(content))).to.deep.equal([true, true]);
    for (const outcome of outcomes) expect(await settledOf(outcome)).to.have.property('status', 'expired');
    alice.react(desk.latest(), '👍');
    await settled();
    expect(desk.runs).to.deep.equal([]);
  });

  it('lets nothing run while it is not running', async () => {
    await using desk = await openDesk();
    await desk.host.plugins.unload('confirm');
    const outcome = await desk.call(desk.host.alice, { what: 'milk' });
    expect(outcome).to.have.nested.property('error.code', 'CINNABAR_TOOL_GUARD_DOWN');
    await desk.host.plugins.load('confirm');
    expect(await desk.call(desk.host.alice, { what: 'milk' })).to.have.property('status', 'deferred');
  });

  it('takes cards that were deleted, one or many, for a cancellation', async () => {
    await using desk = await openDesk();
    const { alice, bot, client, general, settled } = desk.host;
    const outcomes = [await desk.call(alice, { what: 'milk' })];
    bot.delete(desk.latest());
    outcomes.push(await desk.call(alice, { what: 'bread' }), await desk.call(alice, { what: 'eggs' }));
    const channel = await client.channels.fetch(general.id);
    if (channel === null || !('bulkDelete' in channel)) throw new Error('a text channel is expected');
    await channel.bulkDelete(desk.said().map(({ id }) => id));
    await settled();
    for (const outcome of outcomes) expect(await settledOf(outcome)).to.include({ status: 'expired' });
    expect(desk.runs).to.deep.equal([]);
  });
});

describe('a member’s own requests', () => {
  it('are listed with links, theirs only, and only while they are open', async () => {
    await using desk = await openDesk();
    const { alice, bob, general, guild, advance, settled } = desk.host;
    await desk.call(alice, { what: 'milk' });
    const card = desk.latest();
    const answerTo = async (user: typeof alice) => {
      user.say(general, '!confirm pending');
      await settled();
      return desk.latest().content;
    };
    expect(await answerTo(alice)).to.include(`https://discord.com/channels/${guild.id}/${general.id}/${card.id}`);
    expect(await answerTo(bob)).to.equal('Nothing is waiting for your confirmation.');
    await advance(61_000);
    expect(await answerTo(alice)).to.equal('Nothing is waiting for your confirmation.');
  });

  it('are exported, and deleting a member’s data ends them', async () => {
    await using desk = await openDesk();
    const { alice } = desk.host;
    const store = desk.host.resolve(PersonalDataStore);
    const outcome = await desk.call(alice, { what: 'milk' });
    expect(JSON.stringify(await store.export(alice.id))).to.include('• What: milk');
    await store.forget(alice.id);
    expect(await settledOf(outcome)).to.have.property('status', 'expired');
    expect(JSON.stringify(await store.export(alice.id))).not.to.include('milk');
  });
});
