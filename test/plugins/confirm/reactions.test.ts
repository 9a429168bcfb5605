import { expect } from 'chai';
import { type Harness, inTime, openHarness, settledOf, shareHarness, toldTo } from './harness.js';

const POST = { method: 'POST', route: '/channels/:channelId/messages' } as const;
const ALWAYS = { times: Number.POSITIVE_INFINITY };
type RestFaults = Harness['host']['discord']['faults']['rest'];

describe('confirmation by reaction', () => {
  const open = shareHarness();
  it('holds the call: a card with 👍 and 👎 in that order, and nothing has run', async () => {
    await using harness = await open();
    const outcome = await harness.call(harness.host.alice, { what: 'milk' });
    expect(outcome).to.have.property('status', 'deferred');
    expect(outcome)
      .to.have.property('note')
      .that.matches(/^Not run yet.*Do not claim that it ran/);
    expect(harness.said().map(({ content }) => content)).to.deep.equal([
      "📋 Confirmation Required\n\nI'll run an errand:\n• What: milk\n\n👍 Confirm  👎 Cancel",
    ]);
    expect(harness.latest().reactions.map(({ emoji, users }) => [emoji.name, [...users]])).to.deep.equal([
      ['👍', [harness.host.bot]],
      ['👎', [harness.host.bot]],
    ]);
    expect(harness.runs).to.deep.equal([]);
  });

  it('runs exactly the shown call on 👍, says so, and resolves for the caller', async () => {
    await using harness = await open();
    const outcome = await harness.call(harness.host.alice, { what: 'milk' });
    harness.host.alice.react(harness.latest(), '👍');
    await harness.host.settled();
    expect(harness.runs).to.deep.equal([{ what: 'milk' }]);
    expect(harness.latest().content).to.equal(toldTo(harness.host.alice, '✓ Did milk.'));
    expect(await settledOf(outcome)).to.include({ status: 'done', text: '✓ Did milk.' });
  });

  it('runs nothing on 👎, and says that it was cancelled', async () => {
    await using harness = await open();
    const outcome = await harness.call(harness.host.alice, { what: '*milk*' });
    harness.host.alice.react(harness.latest(), '👎');
    await harness.host.settled();
    expect(harness.runs).to.deep.equal([]);
    expect(harness.latest().content).to.equal(toldTo(harness.host.alice, 'Cancelled \\*milk\\*.'));
    expect(await settledOf(outcome)).to.have.property('status', 'denied');
  });

  it('counts only the requester, and ignores reactions of others', async () => {
    await using harness = await open();
    const { alice, bob, you, settled } = harness.host;
    await harness.call(alice, { what: 'milk' });
    const card = harness.latest();
    bob.react(card, '👍');
    you.react(card, '👎');
    await settled();
    expect(harness.runs).to.deep.equal([]);
    alice.react(card, '👍');
    await settled();
    bob.react(card, '👎');
    await settled();
    expect(harness.runs).to.have.length(1);
    expect(card.reactedBy('👍')).to.include(bob);
    expect(card.reactedBy('👎')).to.include.members([bob, you]);
  });

  for (const [first, second, ran] of [
    ['👍', '👎', 1],
    ['👎', '👍', 0],
  ] as const) {
    it(`takes ${first} for the decision and takes a later ${second} away`, async () => {
      await using harness = await open();
      const { alice, bot, settled } = harness.host;
      await harness.call(alice, { what: 'milk' });
      const card = harness.latest();
      alice.react(card, first);
      alice.react(card, second);
      await settled();
      expect(harness.runs).to.have.length(ran);
      expect(card.reactedBy(first)).to.deep.equal([bot, alice]);
      expect(card.reactedBy(second)).to.deep.equal([bot]);
      expect(harness.said()).to.have.length(2);
    });
  }

  it('does not run again when the requester takes 👍 back and gives it again', async () => {
    await using harness = await open();
    const { alice, bot, settled } = harness.host;
    await harness.call(alice, { what: 'milk' });
    const card = harness.latest();
    for (let round = 0; round < 3; round++) {
      alice.react(card, '👍');
      alice.unreact(card, '👍');
    }
    alice.react(card, '👍');
    await settled();
    expect(harness.runs).to.have.length(1);
    expect(card.reactedBy('👍')).to.deep.equal([bot]);
  });

  it('leaves a later reaction, and asks Discord for nothing, without the permission to remove it', async () => {
    await using harness = await open();
    const { alice, guild, general, bot, discord, settled } = harness.host;
    guild.overwrite(general, { for: bot, deny: ['ManageMessages'] });
    await harness.call(alice, { what: 'milk' });
    const card = harness.latest();
    alice.react(card, '👍');
    alice.react(card, '👎');
    await settled();
    expect(harness.runs).to.have.length(1);
    expect(card.reactedBy('👎')).to.include(alice);
    expect(discord.requests.all.filter(({ method }) => method === 'DELETE')).to.deep.equal([]);
  });

  it('ignores other emoji, and lets them stay', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    await harness.call(alice, { what: 'milk' });
    const card = harness.latest();
    alice.react(card, '🎉');
    await settled();
    expect(harness.runs).to.deep.equal([]);
    alice.react(card, '👍');
    await settled();
    expect(harness.runs).to.have.length(1);
    expect(card.reactedBy('🎉')).to.deep.equal([alice]);
  });

  it('counts a reaction that comes before Discord has confirmed the card', async () => {
    await using harness = await open();
    const { alice, bot, discord } = harness.host;
    const stop = discord.observe((event) => {
      if (event.type === 'messageCreate' && event.message.author.id === bot.id) {
        stop();
        alice.react(event.message, '👍');
      }
    });
    await harness.call(alice, { what: 'milk' });
    expect(harness.runs).to.have.length(1);
  });

  for (const [what, fail] of [
    ['the connection breaks', (faults: RestFaults) => faults.drop({ ...POST, afterEffect: true })],
    [
      'a proxy answers 502 for ever',
      (faults: RestFaults) => faults.fail(502, { ...POST, ...ALWAYS, afterEffect: true }),
    ],
  ] as const) {
    it(`posts one card, which counts, when ${what} after Discord has taken it`, async () => {
      await using harness = await open();
      const { alice, discord } = harness.host;
      fail(discord.faults.rest);
      await inTime(harness.host, harness.call(alice, { what: 'milk' }));
      expect(harness.said()).to.have.length(1);
      alice.react(harness.latest(), '👍');
      await discord.expectMessage({ content: toldTo(alice, '✓ Did milk.') });
      expect(harness.runs).to.have.length(1);
      discord.faults.clear();
      await inTime(harness.host, harness.host.settled());
    });
  }

  it('counts, and says so later, when Discord takes no message for minutes after the press', async () => {
    await using harness = await open();
    const { alice, discord, settled, advance } = harness.host;
    await harness.call(alice, { what: 'milk' });
    discord.faults.rest.fail(503, { ...POST, ...ALWAYS });
    alice.react(harness.latest(), '👍');
    await discord.settled();
    await inTime(harness.host, settled());
    expect(harness.runs).to.have.length(1);
    expect(harness.said()).to.have.length(1);
    discord.faults.clear();
    await advance(60_000);
    expect(harness.said().map(({ content }) => content.slice(0, 2))).to.deep.equal(['📋', '✓ ']);
    await advance(60_000);
    expect(harness.said()).to.have.length(2);
  });

  it('waits for the member even where its own reactions could not be added for Discord’s sake', async () => {
    await using harness = await open();
    const { alice, discord, settled } = harness.host;
    discord.faults.rest.fail(502, { method: 'PUT', ...ALWAYS });
    discord.faults.rest.fail(502, { method: 'PATCH', ...ALWAYS });
    await inTime(harness.host, harness.call(alice, { what: 'milk' }));
    discord.faults.clear();
    alice.react(harness.latest(), '👍');
    await settled();
    expect(harness.latest().content).to.equal(toldTo(harness.host.alice, '✓ Did milk.'));
  });

  it('keeps several calls apart: a card each, in order, each with its own decision', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    for (const what of ['one', 'two', 'three']) await harness.call(alice, { what });
    const cards = harness.said();
    expect(cards.map(({ content }) => /What: (\w+)/.exec(content)?.[1])).to.deep.equal(['one', 'two', 'three']);
    const [one, two, three] = cards;
    if (one === undefined || two === undefined || three === undefined) throw new Error('three cards are expected');
    alice.react(three, '👍');
    alice.react(two, '👎');
    alice.react(one, '👍');
    await settled();
    expect(harness.runs).to.have.deep.members([{ what: 'one' }, { what: 'three' }]);
  });

  it('confirms one call, not the next one like it', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    await harness.call(alice, { what: 'milk' });
    alice.react(harness.latest(), '👍');
    await settled();
    expect(await harness.call(alice, { what: 'milk' })).to.have.property('status', 'deferred');
    expect(harness.runs).to.have.length(1);
  });

  it('runs once when a reaction and a click race', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    await harness.configure('controls', 'both');
    await harness.call(alice, { what: 'milk' });
    const card = harness.latest();
    alice.react(card, '👍');
    alice.click(card, 'Confirm');
    alice.click(card, 'Cancel');
    await settled();
    expect(harness.runs).to.have.length(1);
    expect(
      harness
        .said()
        .map(({ content }) => content)
        .slice(1),
    ).to.deep.equal([toldTo(alice, '✓ Did milk.')]);
  });

  it('keeps two members apart in one channel', async () => {
    await using harness = await open();
    const { alice, bob, settled } = harness.host;
    await harness.call(alice, { what: 'hers' });
    const hers = harness.latest();
    await harness.call(bob, { what: 'his' });
    const his = harness.latest();
    alice.react(his, '👍');
    bob.react(hers, '👍');
    await settled();
    expect(harness.runs).to.deep.equal([]);
    bob.react(his, '👍');
    await settled();
    expect(harness.runs).to.deep.equal([{ what: 'his' }]);
  });

  it('works in a direct message', async () => {
    await using harness = await open();
    const { alice, bot, settled } = harness.host;
    const dm = alice.openDm(bot);
    await harness.call(alice, { what: 'milk' }, { channel: dm });
    alice.react(harness.latest(dm), '👍');
    await settled();
    expect(harness.latest(dm).content).to.equal('✓ Did milk.');
  });

  it('says what went wrong when the call fails, and does not try again', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    for (const [what, answer] of [
      ['explain', /^The shop is closed\.\n/],
      ['break', /^(?!.*internal detail).*failed/],
    ] as const) {
      const outcome = await harness.call(alice, { what });
      const card = harness.latest();
      alice.react(card, '👍');
      await settled();
      expect(harness.latest().content).to.match(answer);
      expect(await settledOf(outcome)).to.have.property('status', 'failed');
      alice.unreact(card, '👍');
      alice.react(card, '👍');
      await settled();
    }
    expect(harness.runs).to.have.length(2);
  });

  it('logs no warning about an answer in plain text', async () => {
    await using harness = await openHarness();
    const { alice, settled, log } = harness.host;
    await harness.call(alice, { what: 'explain' });
    alice.react(harness.latest(), '👍');
    await settled();
    const levels = log.filter(({ message }) => message.includes('a confirmed call failed')).map(({ level }) => level);
    expect(levels).to.deep.equal(['info']);
  });

  it('pings no one, for any argument', async () => {
    await using harness = await open();
    const { alice, bob, settled } = harness.host;
    await harness.call(alice, { what: `@everyone ${bob}` });
    alice.react(harness.latest(), '👍');
    await settled();
    expect(harness.said()).to.have.length(2);
    for (const { mentions } of harness.said())
      expect(mentions).to.deep.equal({ everyone: false, users: [], roles: [] });
  });
});
