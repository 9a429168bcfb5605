import { createMemoryDriver } from '@cinnabar/core/testing';
import { expect } from 'chai';
import { openHarness, settledOf, shareHarness } from './harness.js';

const STRUCK = [
  '~~📋 Confirmation Required~~',
  '',
  "~~I'll run an errand:~~",
  '~~• What: milk~~',
  '',
  '~~👍 Confirm  👎 Cancel~~',
  '',
  '⏱️ Request timed out',
].join('\n');

describe('time limit of a confirmation', () => {
  const open = shareHarness();
  it('turns the card into its struck-through form on the requester’s next message; reactions stay, and no message is sent', async () => {
    await using harness = await open();
    const { alice, bot, general, advance, settled } = harness.host;
    const outcome = await harness.call(alice, { what: 'milk' });
    await advance(60_001);
    expect(harness.latest().content).to.match(/^📋/);
    alice.say(general, 'hello');
    await settled();
    expect(harness.said().map(({ content }) => content)).to.deep.equal([STRUCK]);
    expect(harness.latest().reactedBy('👍')).to.deep.equal([bot]);
    expect(harness.latest().reactedBy('👎')).to.deep.equal([bot]);
    expect(await settledOf(outcome)).to.have.property('status', 'expired');
  });

  it('executes nothing on a late reaction, which turns the card, too', async () => {
    await using harness = await open();
    const { alice, bot, advance, settled } = harness.host;
    await harness.call(alice, { what: 'milk' });
    await advance(60_001);
    alice.react(harness.latest(), '👍');
    await settled();
    expect(harness.runs).to.deep.equal([]);
    expect(harness.said().map(({ content }) => content)).to.deep.equal([STRUCK]);
    expect(harness.latest().reactedBy('👍')).to.deep.equal([bot, alice]);
  });

  it('leaves a card alone that timed out: no reaction does anything any more', async () => {
    await using harness = await open();
    const { alice, general, advance, settled } = harness.host;
    await harness.call(alice, { what: 'milk' });
    await advance(60_001);
    alice.say(general, 'hello');
    await settled();
    alice.react(harness.latest(), '👍');
    await settled();
    expect(harness.runs).to.deep.equal([]);
    expect(harness.said()).to.have.length(1);
  });

  it('ends the call and turns the card also when the disk fails at that moment', async () => {
    const driver = createMemoryDriver();
    await using harness = await openHarness({ driver });
    const { alice, general, advance, settled } = harness.host;
    const outcome = await harness.call(alice, { what: 'milk' });
    await advance(60_001);
    driver.failWrites(new Error('disk full'));
    alice.say(general, 'hello');
    await settled();
    expect(harness.said().map(({ content }) => content)).to.deep.equal([STRUCK]);
    expect(await settledOf(outcome)).to.have.property('status', 'expired');
    expect(harness.runs).to.deep.equal([]);
  });

  it('is sixty seconds, the last of them included', async () => {
    await using harness = await open();
    const { alice, general, advance, settled } = harness.host;
    await harness.call(alice, { what: 'milk' });
    const card = harness.latest();
    await advance(60_000);
    alice.say(general, 'hello');
    await settled();
    alice.react(card, '👍');
    await settled();
    expect(harness.runs).to.have.length(1);
  });

  it('ends on a message of the requester anywhere the bot sees it, but not on those of others', async () => {
    await using harness = await open();
    const { alice, bob, bot, general, advance, settled } = harness.host;
    await harness.call(alice, { what: 'milk' });
    await advance(61_000);
    bob.say(general, 'hello');
    bob.react(harness.latest(), '👍');
    await settled();
    expect(harness.latest().content).to.match(/^📋/);
    alice.say(alice.openDm(bot), 'hello');
    await settled();
    expect(harness.latest().content).to.equal(STRUCK);
  });

  it('ends on the next request as well', async () => {
    await using harness = await open();
    const { alice, advance } = harness.host;
    await harness.call(alice, { what: 'milk' });
    await advance(61_000);
    await harness.call(alice, { what: 'bread' });
    expect(harness.said().map(({ content }) => content.slice(0, 3))).to.deep.equal([
      '~~📋'.slice(0, 3),
      '📋 '.slice(0, 3),
    ]);
  });

  it('ends only what is overdue', async () => {
    await using harness = await open();
    const { alice, general, advance, settled } = harness.host;
    await harness.call(alice, { what: 'milk' });
    await advance(40_000);
    await harness.call(alice, { what: 'bread' });
    await advance(40_000);
    alice.say(general, 'hello');
    await settled();
    expect(harness.said().map(({ content }) => content.startsWith('~~'))).to.deep.equal([true, false]);
    alice.react(harness.latest(), '👍');
    await settled();
    expect(harness.runs).to.deep.equal([{ what: 'bread' }]);
  });

  it('starts when Discord has confirmed the card, not when it was sent', async () => {
    await using harness = await open();
    const { alice, discord, clock, settled } = harness.host;
    // Discord has received the request, but its response takes five minutes.
    const stop = discord.observe(({ type }) => {
      if (type !== 'messageCreate') return;
      stop();
      clock.advance(300_000);
    });
    await harness.call(alice, { what: 'milk' });
    clock.advance(59_000);
    alice.react(harness.latest(), '👍');
    await settled();
    expect(harness.runs).to.have.length(1);
  });

  it('follows the guild’s setting', async () => {
    await using harness = await open();
    const { alice, advance, settled } = harness.host;
    await harness.configure('timeLimit', '600');
    await harness.call(alice, { what: 'milk' });
    await advance(599_000);
    alice.react(harness.latest(), '👍');
    await settled();
    expect(harness.runs).to.have.length(1);
  });

  it('needs no timer, and nothing of Discord for a message of a member without requests', async () => {
    await using harness = await open();
    const { alice, bob, general, clock, discord, settled } = harness.host;
    const timers = clock.pending;
    await harness.call(alice, { what: 'milk' });
    expect(clock.pending).to.equal(timers);
    discord.requests.reset();
    bob.say(general, 'hello');
    await settled();
    expect(discord.requests.all).to.deep.equal([]);
  });

  it('ignores that a card to cross out was deleted meanwhile', async () => {
    await using harness = await open();
    const { alice, bot, general, advance, settled } = harness.host;
    await harness.call(alice, { what: 'milk' });
    const outcome = await harness.call(alice, { what: 'bread' });
    bot.delete(harness.latest());
    await settled();
    expect(await settledOf(outcome)).to.have.property('status', 'expired');
    await advance(61_000);
    alice.say(general, 'hello');
    await settled();
    expect(harness.said().map(({ content }) => content)).to.deep.equal([STRUCK]);
  });
});
