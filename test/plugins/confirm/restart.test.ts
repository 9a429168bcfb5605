import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ledger, PersonalDataStore } from '@cinnabar/sdk';
import { expect } from 'chai';
import { copyData, openData } from '../../support/data.js';
import { type Harness, inTime, openHarness, settledOf, toldTo } from './harness.js';

const POST = { method: 'POST', route: '/channels/:channelId/messages' } as const;

/** Kills the bot: the next process finds the stored state of this moment, and the old one sends no more messages. */
async function crash(
  { host }: Harness,
  manner: 'idle' | 'busy' = 'idle',
): Promise<{ dataDir: string } & AsyncDisposable> {
  const dataDir = await mkdtemp(join(tmpdir(), 'cinnabar-crash-'));
  copyData(host.dataDir, dataDir);
  host.discord.faults.rest.clear();
  const gone = { times: Number.POSITIVE_INFINITY, body: { message: 'Unknown Message', code: 10008 } };
  for (const method of ['PATCH', 'POST', 'DELETE']) host.discord.faults.rest.fail(404, { method, ...gone });
  // A stop waits for running handlers, on the test's clock.
  await (manner === 'idle' ? host.stop() : inTime(host, host.stop()));
  host.discord.faults.rest.clear();
  return { dataDir, [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) };
}

describe('confirmations over a restart', () => {
  it('says at the start that what was pending was not run, and never runs it', async () => {
    await using before = await openHarness();
    const { alice, settled } = before.host;
    const outcome = await before.call(alice, { what: 'milk' });
    await before.call(alice, { what: 'bread' });
    await using left = await crash(before);
    expect(before.said().every(({ content }) => content.startsWith('📋'))).to.equal(true);

    await using after = await openHarness({ world: before.host, dataDir: left.dataDir });
    await after.host.settled();
    expect(after.said()).to.have.length(2);
    for (const { content } of after.said())
      expect(content)
        .to.match(/^~~📋/)
        .and.to.match(/\n\n🔁 Not run: I was restarted. Please ask again.$/);
    for (const card of after.said()) alice.react(card, '👍');
    await settled();
    await after.host.settled();
    expect([...before.runs, ...after.runs]).to.deep.equal([]);
    expect(await after.host.resolve(Ledger).get(outcome.callId)).to.have.property('state', 'expired');
  });

  it('says at a stop of a card whose time was over before that it timed out', async () => {
    await using harness = await openHarness();
    await harness.call(harness.host.alice, { what: 'milk' });
    await harness.host.advance(120_000);
    await harness.call(harness.host.bob, { what: 'bread' });
    await harness.host.stop();
    expect(harness.said().map(({ content }) => content.split('\n').at(-1))).to.deep.equal([
      '⏱️ Request timed out',
      '🔁 Not run: I was restarted. Please ask again.',
    ]);
  });

  it('finds a card whose delivery was not confirmed when the bot died', async () => {
    await using before = await openHarness();
    const { alice, discord } = before.host;
    discord.faults.rest.drop({ ...POST, afterEffect: true, times: Number.POSITIVE_INFINITY });
    const called = before.call(alice, { what: 'milk' });
    await discord.expectMessage({ content: /^📋/ });
    await using left = await crash(before, 'busy');
    expect(before.latest().content).to.match(/^📋/);
    await called;

    await using after = await openHarness({ world: before.host, dataDir: left.dataDir });
    await after.host.settled();
    expect(after.latest().content).to.match(/🔁 Not run: I was restarted. Please ask again.$/);
  });

  for (const [emoji, ending] of [
    ['👍', '🔁 Not run: I was restarted before I could act on your 👍. Please ask again.'],
    ['👎', '🛑 Cancelled: it was not run.'],
    [undefined, '🔁 Not run: I was restarted. Please ask again.'],
  ] as const) {
    it(`answers truthfully what was pressed while it was down: ${emoji ?? 'nothing'}`, async () => {
      await using before = await openHarness();
      const { alice, bob, clock } = before.host;
      const outcome = await before.call(alice, { what: 'milk' });
      await using left = await crash(before);
      if (emoji !== undefined) alice.react(before.latest(), emoji);
      bob.react(before.latest(), '👍');
      clock.advance(100_000);

      await using after = await openHarness({ world: before.host, dataDir: left.dataDir });
      await after.host.settled();
      expect(after.said()).to.have.length(1);
      expect(after.latest().content.split('\n').at(-1)).to.equal(ending);
      expect([...before.runs, ...after.runs]).to.deep.equal([]);
      expect(await after.host.resolve(Ledger).get(outcome.callId)).to.have.property('state', 'expired');
    });
  }

  it('says that it does not know whether it took effect when it died while running', async () => {
    await using before = await openHarness();
    const { alice } = before.host;
    const outcome = await before.call(alice, { what: 'wait' });
    alice.react(before.latest(), '👍');
    await before.begun();
    await using left = await crash(before, 'busy');
    before.release();

    await using after = await openHarness({ world: before.host, dataDir: left.dataDir });
    await after.host.settled();
    expect(after.said().map(({ content }) => content)).to.have.length(1);
    expect(after.latest().content).to.match(
      /^📋[\s\S]*\n\n✅ Confirmed by <@\d+>\n❓ I was interrupted while doing this and do not know/,
    );
    expect(await after.host.resolve(Ledger).get(outcome.callId)).to.have.property('state', 'unknown');
  });

  it('says of each of several on one card what became of it when it died in the middle of them', async () => {
    await using before = await openHarness();
    const { alice } = before.host;
    await before.callAll(alice, [{ what: 'milk' }, { what: 'wait' }, { what: 'bread' }]);
    alice.react(before.latest(), '👍');
    await before.begun();
    await using left = await crash(before, 'busy');
    before.release();

    await using after = await openHarness({ world: before.host, dataDir: left.dataDir });
    await after.host.settled();
    const [card, told, ...others] = after.said().map(({ content }) => content);
    expect(card).to.match(/\n✅ Confirmed by <@\d+>\n🔁 I was restarted in the middle of this\./);
    const [milk, wait, bread] = told?.split('\n') ?? [];
    expect(milk).to.equal('✓ Did milk.');
    expect(wait).to.match(/^I'll run an errand: ❓ I was interrupted while doing this/);
    expect(bread).to.match(/^I'll run an errand: 🔁 Not run/);
    expect(others).to.deep.equal([]);
    expect(after.runs).to.deep.equal([]);
  });

  it('does not claim that nothing was run when the ledger has lost the call', async () => {
    await using before = await openHarness();
    const { alice, discord } = before.host;
    await before.call(alice, { what: 'milk' });
    discord.faults.rest.fail(503, { ...POST, times: Number.POSITIVE_INFINITY });
    alice.react(before.latest(), '👍');
    await discord.settled();
    await using left = await crash(before, 'busy');
    expect(before.runs).to.have.length(1);
    {
      await using data = await openData(left.dataDir);
      for (const path of await data.list(['@host', 'ledger'])) await data.erase(path);
    }

    await using after = await openHarness({ world: before.host, dataDir: left.dataDir });
    await after.host.settled();
    expect(after.latest().content.split('\n').at(-1)).to.match(/^❓/);
  });

  for (const [what, emoji, sentence, ending] of [
    ['milk', '👍', '✓ Did milk.', '✅ Done.'],
    ['explain', '👍', 'The shop is closed.', '⚠️ It failed.'],
    ['milk', '👎', 'Cancelled milk.', '🛑 Cancelled: it was not run.'],
  ] as const) {
    it(`tells after the restart what it could not tell before: ${sentence}`, async () => {
      await using before = await openHarness();
      const { alice, discord } = before.host;
      await before.call(alice, { what });
      discord.faults.rest.fail(503, { ...POST, times: Number.POSITIVE_INFINITY });
      alice.react(before.latest(), emoji);
      await discord.settled();
      await using left = await crash(before, 'busy');

      await using after = await openHarness({ world: before.host, dataDir: left.dataDir });
      await after.host.settled();
      const [card, told, ...others] = after.said();
      expect(told?.content).to.equal(toldTo(alice, sentence));
      expect(told?.replyTo?.id).to.equal(card?.id);
      expect(card?.content.split('\n').at(-1)).to.equal(ending);
      expect(others).to.deep.equal([]);
    });
  }

  it('does not tell again what was told just before it died', async () => {
    await using before = await openHarness();
    const { alice, discord, clock } = before.host;
    await before.call(alice, { what: 'milk' });
    discord.faults.rest.fail(502, { ...POST, times: Number.POSITIVE_INFINITY, afterEffect: true });
    alice.react(before.latest(), '👍');
    await discord.expectMessage({ content: toldTo(alice, '✓ Did milk.') });
    await using left = await crash(before, 'busy');
    clock.advance(3_600_000);

    await using after = await openHarness({ world: before.host, dataDir: left.dataDir });
    await after.host.settled();
    const [card, ...told] = after.said().map(({ content }) => content);
    expect(card?.split('\n').at(-1)).to.equal('✅ Done.');
    expect(told).to.deep.equal([toldTo(alice, '✓ Did milk.')]);
  });

  it('leaves decided cards as they are, and asks Discord for nothing', async () => {
    await using before = await openHarness();
    const { alice, discord, settled } = before.host;
    await before.call(alice, { what: 'milk' });
    alice.react(before.latest(), '👍');
    await settled();
    await using left = await crash(before);
    discord.requests.reset();

    await using after = await openHarness({ world: before.host, dataDir: left.dataDir });
    expect(after.said().map(({ content }) => content.slice(0, 2))).to.deep.equal(['📋', '✓ ']);
    expect(discord.requests.all.filter(({ path }) => path.includes('/messages'))).to.deep.equal([]);
  });

  it('forgets a card that is gone', async () => {
    await using before = await openHarness();
    const { alice, bot, discord } = before.host;
    await before.call(alice, { what: 'milk' });
    await using left = await crash(before);
    bot.delete(before.latest());
    await using after = await openHarness({ world: before.host, dataDir: left.dataDir });
    await after.host.stop();
    discord.requests.reset();
    await using later = await openHarness({ world: before.host, dataDir: left.dataDir });
    expect(discord.requests.all.filter(({ path }) => path.includes('/messages'))).to.deep.equal([]);
    expect(later.runs).to.deep.equal([]);
  });

  it('ends and marks everything when the plugin stops', async () => {
    await using harness = await openHarness();
    const { alice, plugins, settled } = harness.host;
    const outcomes = [await harness.call(alice, { what: 'milk' }), await harness.call(alice, { what: 'bread' })];
    await plugins.unload('confirm');
    expect(harness.said().map(({ content }) => /🔁 Not run: I was restarted/.test(content))).to.deep.equal([
      true,
      true,
    ]);
    for (const outcome of outcomes) expect(await settledOf(outcome)).to.have.property('status', 'expired');
    alice.react(harness.latest(), '👍');
    await settled();
    expect(harness.runs).to.deep.equal([]);
  });

  it('lets nothing run while it is not running', async () => {
    await using harness = await openHarness();
    await harness.host.plugins.unload('confirm');
    const outcome = await harness.call(harness.host.alice, { what: 'milk' });
    expect(outcome).to.have.nested.property('error.code', 'CINNABAR_TOOL_GUARD_DOWN');
    await harness.host.plugins.load('confirm');
    expect(await harness.call(harness.host.alice, { what: 'milk' })).to.have.property('status', 'deferred');
  });

  it('takes cards that were deleted, one or many, for a cancellation', async () => {
    await using harness = await openHarness();
    const { alice, bot, client, general, settled } = harness.host;
    const outcomes = [await harness.call(alice, { what: 'milk' })];
    bot.delete(harness.latest());
    outcomes.push(await harness.call(alice, { what: 'bread' }), await harness.call(alice, { what: 'eggs' }));
    const channel = await client.channels.fetch(general.id);
    if (channel === null || !('bulkDelete' in channel)) throw new Error('a text channel is expected');
    await channel.bulkDelete(harness.said().map(({ id }) => id));
    await settled();
    for (const outcome of outcomes) expect(await settledOf(outcome)).to.include({ status: 'expired' });
    expect(harness.runs).to.deep.equal([]);
  });
});

describe('a member’s own requests', () => {
  it('are listed with links, theirs only, and only while they are open', async () => {
    await using harness = await openHarness();
    const { alice, bob, general, guild, advance, settled } = harness.host;
    await harness.call(alice, { what: 'milk' });
    const card = harness.latest();
    const answerTo = async (user: typeof alice) => {
      user.say(general, '!confirm pending');
      await settled();
      return harness.latest().content;
    };
    expect(await answerTo(alice)).to.include(`https://discord.com/channels/${guild.id}/${general.id}/${card.id}`);
    expect(await answerTo(bob)).to.equal('Nothing is waiting for your confirmation.');
    await advance(61_000);
    expect(await answerTo(alice)).to.equal('Nothing is waiting for your confirmation.');
  });

  it('are exported, and deleting a member’s data ends them', async () => {
    await using harness = await openHarness();
    const { alice } = harness.host;
    const store = harness.host.resolve(PersonalDataStore);
    const outcome = await harness.call(alice, { what: 'milk' });
    expect(JSON.stringify(await store.export(alice.id))).to.include('• What: milk');
    await store.forget(alice.id);
    expect(await settledOf(outcome)).to.have.property('status', 'expired');
    expect(JSON.stringify(await store.export(alice.id))).not.to.include('milk');
  });
});
