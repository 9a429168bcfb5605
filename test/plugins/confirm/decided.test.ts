import { expect } from 'chai';
import { shareHarness, toldTo } from './harness.js';

describe('a decided card', () => {
  const open = shareHarness();
  it('says who confirmed it and when, and the result is a reply to it that names the member', async () => {
    await using harness = await open();
    const { alice, bob, clock, settled } = harness.host;
    await harness.call(alice, { what: 'milk' });
    const card = harness.latest();
    await harness.call(bob, { what: 'bread' });
    alice.react(card, '👍');
    await settled();
    const seconds = Math.floor(clock.now() / 1_000);
    expect(card.content.split('\n').at(-1)).to.equal(`✅ Confirmed by ${alice} <t:${seconds}:f>`);
    expect(harness.latest().content).to.equal(toldTo(alice, '✓ Did milk.'));
    expect(harness.latest().replyTo?.id).to.equal(card.id);
  });

  it('shows the confirmation at once, while the call still runs', async () => {
    await using harness = await open();
    const { alice, discord, settled } = harness.host;
    await harness.call(alice, { what: 'wait' });
    const card = harness.latest();
    alice.react(card, '👍');
    await harness.begun();
    await discord.settled();
    expect(card.content).to.match(/\n✅ Confirmed by/);
    harness.release();
    await settled();
  });

  it('is struck through when it was cancelled, and says by whom', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    await harness.call(alice, { what: 'milk' });
    const card = harness.latest();
    alice.react(card, '👎');
    await settled();
    expect(card.content).to.match(/^~~📋 Confirmation Required~~\n[\s\S]*\n❌ Cancelled by <@\d+> <t:\d+:f>$/);
    expect(harness.latest().replyTo?.id).to.equal(card.id);
  });

  for (const [emoji, ran] of [
    ['👍🏽', 1],
    ['👍🏿', 1],
    ['👎🏻', 0],
  ] as const) {
    it(`counts ${emoji} in that skin tone`, async () => {
      await using harness = await open();
      const { alice, settled } = harness.host;
      await harness.call(alice, { what: 'milk' });
      const card = harness.latest();
      alice.react(card, emoji);
      await settled();
      expect(harness.runs).to.have.length(ran);
      expect(card.content).to.match(ran === 1 ? /✅ Confirmed by/ : /❌ Cancelled by/);
    });
  }
});
