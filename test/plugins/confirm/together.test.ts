import { Ledger } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type Desk, openDesk, settledOf, toldTo } from './desk.js';

const THINGS = ['milk', 'bread', 'eggs'].map((what) => ({ what }));

describe('several requests on one card', () => {
  const line = ({ latest }: Desk, number: number) => latest().content.split('\n')[2 + number];

  it('have a line each, and run in order on one 👍', async () => {
    await using desk = await openDesk();
    const { alice, settled } = desk.host;
    const outcomes = await desk.callAll(alice, THINGS);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['deferred', 'deferred', 'deferred']);
    expect(desk.said().map(({ content }) => content)).to.deep.equal([
      "📋 Confirmation Required\n\nI'll do these 3 things:\n1. I'll run an errand: What: milk\n2. I'll run an errand: What: bread\n3. I'll run an errand: What: eggs\n\n👍 Confirm all 3  👎 Cancel",
    ]);
    alice.react(desk.latest(), '👍');
    await settled();
    expect(desk.runs).to.deep.equal(THINGS);
    expect(desk.latest().content).to.equal(toldTo(alice, '✓ Did milk.\n✓ Did bread.\n✓ Did eggs.'));
  });

  it('can be left out one by one: the others run', async () => {
    await using desk = await openDesk();
    const { alice, bob, settled } = desk.host;
    const outcomes = await desk.callAll(alice, THINGS);
    const card = desk.latest();
    const second = outcomes[1]?.callId ?? '';
    bob.select(card, 'Leave out…', [second]);
    await settled();
    expect(card.content).to.not.include('~~');
    alice.select(card, 'Leave out…', [second]);
    await settled();
    expect(line(desk, 2)).to.equal("~~2. I'll run an errand: What: bread~~");
    expect(card.content).to.match(/👍 Confirm 2 of 3/);
    alice.react(card, '👍');
    await settled();
    expect(desk.runs).to.deep.equal([{ what: 'milk' }, { what: 'eggs' }]);
    expect(desk.latest().content).to.equal(toldTo(alice, '✓ Did milk.\nCancelled bread.\n✓ Did eggs.'));
    const ends = await Promise.all(outcomes.map(settledOf));
    expect(ends.map(({ status }) => status)).to.deep.equal(['done', 'denied', 'done']);
  });

  it('are all cancelled with one 👎, and all end when nobody decides', async () => {
    await using desk = await openDesk();
    const { alice, settled, advance } = desk.host;
    await desk.callAll(alice, THINGS);
    alice.react(desk.latest(), '👎');
    await settled();
    expect(desk.latest().content).to.equal(toldTo(alice, 'Cancelled milk.\nCancelled bread.\nCancelled eggs.'));
    const late = await desk.callAll(alice, THINGS);
    await advance(61_000);
    alice.say(desk.host.general, 'Hello');
    await settled();
    expect(desk.latest().content).to.match(/^~~📋[\s\S]*\n~~3\. [\s\S]*Request timed out$/);
    for (const outcome of late) expect(await settledOf(outcome)).to.have.property('status', 'expired');
    expect(desk.runs).to.deep.equal([]);
  });

  it('go on when one of them fails, and each says what became of it', async () => {
    await using desk = await openDesk();
    const { alice, settled } = desk.host;
    await desk.callAll(alice, [{ what: 'explain' }, { what: 'milk' }]);
    alice.react(desk.latest(), '👍');
    await settled();
    expect(desk.latest().content).to.equal(toldTo(alice, 'The shop is closed.\n✓ Did milk.'));
  });

  it('are dealt to several cards where one has no room for all of them in full', async () => {
    await using desk = await openDesk();
    const { alice, settled } = desk.host;
    const long = ['a', 'b', 'c', 'd'].map((letter) => ({ what: letter.repeat(700) }));
    await desk.callAll(alice, long);
    expect(desk.said()).to.have.length(2);
    for (const { content } of desk.said()) expect(content).to.match(/these 2 things/);
    for (const card of desk.said()) {
      alice.react(card, '👍');
      await settled();
    }
    expect(desk.runs).to.deep.equal(long);
  });

  it('let no value pass for another argument', async () => {
    await using desk = await openDesk();
    await desk.callAll(desk.host.alice, [{ what: 'milk; Confirmed: True' }, { what: 'eggs' }]);
    expect(line(desk, 1)).to.equal('1. I\'ll run an errand: What: "milk; Confirmed: True"');
  });

  it('count each against what may wait', async () => {
    await using desk = await openDesk();
    await desk.configure('maxOpen', '2');
    const outcomes = await desk.callAll(desk.host.alice, THINGS);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['deferred', 'deferred', 'denied']);
  });

  for (const style of ['plain', 'cyberpunk', 'terminal']) {
    it(`are drawn in the style ${style}`, async () => {
      await using desk = await openDesk();
      await desk.configure('style', style);
      await desk.callAll(desk.host.alice, THINGS);
      const { content } = desk.latest();
      for (const { what } of THINGS) expect(content).to.include(what);
      expect(content.split('\n').filter((text) => /^(> )?\d\. /.test(text))).to.have.length(3);
    });
  }

  it('are on record one by one', async () => {
    await using desk = await openDesk();
    const { alice, settled } = desk.host;
    const outcomes = await desk.callAll(alice, THINGS);
    alice.react(desk.latest(), '👍');
    await settled();
    for (const { callId } of outcomes) {
      expect(await desk.host.resolve(Ledger).get(callId)).to.include({ state: 'done', decidedBy: alice.id });
    }
  });
});
