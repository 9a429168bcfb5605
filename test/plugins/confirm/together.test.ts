import { Ledger } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type Harness, settledOf, shareHarness, toldTo } from './harness.js';

const THINGS = ['milk', 'bread', 'eggs'].map((what) => ({ what }));

describe('several requests on one card', () => {
  const open = shareHarness();
  const line = ({ latest }: Harness, number: number) => latest().content.split('\n')[2 + number];

  it('have a line each, and run in order on one 👍', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    const outcomes = await harness.callAll(alice, THINGS);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['deferred', 'deferred', 'deferred']);
    expect(harness.said().map(({ content }) => content)).to.deep.equal([
      "📋 Confirmation Required\n\nI'll do these 3 things:\n1. I'll run an errand: What: milk\n2. I'll run an errand: What: bread\n3. I'll run an errand: What: eggs\n\n👍 Confirm all 3  👎 Cancel",
    ]);
    alice.react(harness.latest(), '👍');
    await settled();
    expect(harness.runs).to.deep.equal(THINGS);
    expect(harness.latest().content).to.equal(toldTo(alice, '✓ Did milk.\n✓ Did bread.\n✓ Did eggs.'));
  });

  it('can be left out one by one: the others run', async () => {
    await using harness = await open();
    const { alice, bob, settled } = harness.host;
    const outcomes = await harness.callAll(alice, THINGS);
    const card = harness.latest();
    const second = outcomes[1]?.callId ?? '';
    bob.select(card, 'Leave out…', [second]);
    await settled();
    expect(card.content).to.not.include('~~');
    alice.select(card, 'Leave out…', [second]);
    await settled();
    expect(line(harness, 2)).to.equal("~~2. I'll run an errand: What: bread~~");
    expect(card.content).to.match(/👍 Confirm 2 of 3/);
    alice.react(card, '👍');
    await settled();
    expect(harness.runs).to.deep.equal([{ what: 'milk' }, { what: 'eggs' }]);
    expect(harness.latest().content).to.equal(toldTo(alice, '✓ Did milk.\nCancelled bread.\n✓ Did eggs.'));
    const ends = await Promise.all(outcomes.map(settledOf));
    expect(ends.map(({ status }) => status)).to.deep.equal(['done', 'denied', 'done']);
  });

  it('are all cancelled with one 👎, and all expire without a decision', async () => {
    await using harness = await open();
    const { alice, settled, advance } = harness.host;
    await harness.callAll(alice, THINGS);
    alice.react(harness.latest(), '👎');
    await settled();
    expect(harness.latest().content).to.equal(toldTo(alice, 'Cancelled milk.\nCancelled bread.\nCancelled eggs.'));
    const late = await harness.callAll(alice, THINGS);
    await advance(61_000);
    alice.say(harness.host.general, 'Hello');
    await settled();
    expect(harness.latest().content).to.match(/^~~📋[\s\S]*\n~~3\. [\s\S]*Request timed out$/);
    for (const outcome of late) expect(await settledOf(outcome)).to.have.property('status', 'expired');
    expect(harness.runs).to.deep.equal([]);
  });

  it('go on when one of them fails, and each says what became of it', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    await harness.callAll(alice, [{ what: 'explain' }, { what: 'milk' }]);
    alice.react(harness.latest(), '👍');
    await settled();
    expect(harness.latest().content).to.equal(toldTo(alice, 'The shop is closed.\n✓ Did milk.'));
  });

  it('are dealt to several cards where one has no room for all of them in full', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    const long = ['a', 'b', 'c', 'd'].map((letter) => ({ what: letter.repeat(700) }));
    await harness.callAll(alice, long);
    expect(harness.said()).to.have.length(2);
    for (const { content } of harness.said()) expect(content).to.match(/these 2 things/);
    for (const card of harness.said()) {
      alice.react(card, '👍');
      await settled();
    }
    expect(harness.runs).to.deep.equal(long);
  });

  it('show no value in the form of another argument', async () => {
    await using harness = await open();
    await harness.callAll(harness.host.alice, [{ what: 'milk; Confirmed: True' }, { what: 'eggs' }]);
    expect(line(harness, 1)).to.equal('1. I\'ll run an errand: What: "milk; Confirmed: True"');
  });

  it('count each towards the limit of pending cards', async () => {
    await using harness = await open();
    await harness.configure('maxOpen', '2');
    const outcomes = await harness.callAll(harness.host.alice, THINGS);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['deferred', 'deferred', 'denied']);
  });

  for (const style of ['plain', 'cyberpunk', 'terminal']) {
    it(`are drawn in the style ${style}`, async () => {
      await using harness = await open();
      await harness.configure('style', style);
      await harness.callAll(harness.host.alice, THINGS);
      const { content } = harness.latest();
      for (const { what } of THINGS) expect(content).to.include(what);
      expect(content.split('\n').filter((text) => /^(> )?\d\. /.test(text))).to.have.length(3);
    });
  }

  it('are on record one by one', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    const outcomes = await harness.callAll(alice, THINGS);
    alice.react(harness.latest(), '👍');
    await settled();
    for (const { callId } of outcomes) {
      expect(await harness.host.resolve(Ledger).get(callId)).to.include({ state: 'done', decidedBy: alice.id });
    }
  });
});
