import { expect } from 'chai';
import { ANNA, ANNABEL, BOB, GENERAL, openMemoryHarness, STAFF, textsOf } from './harness.js';

describe('persona: what is added to its memory', () => {
  it('keeps who said it, of whom, where, when and in which message', async () => {
    await using harness = await openMemoryHarness();
    const { memory } = await harness.say(ANNA, 'I live in Bonn', { messageId: '77', importance: 6 });
    expect(memory).to.include({
      kind: 'fact',
      text: 'I live in Bonn',
      speaker: ANNA,
      subject: ANNA,
      messageId: '77',
      channelId: GENERAL.channelId,
      guildId: GENERAL.guildId,
      at: harness.clock.now(),
      importance: 6,
      visibility: 'guild',
      supersededBy: null,
    });
  });

  it('restricts it to the speaker when no audience is given, and otherwise to the channel of the message', async () => {
    await using harness = await openMemoryHarness();
    const { memory } = await harness.memories.add({ place: GENERAL, text: 'I like tea', speaker: ANNA });
    expect(memory?.visibility).to.equal('channel');
  });

  const subjects: readonly (readonly [text: string, subject: string])[] = [
    ['Anna lives in Rome', ANNA],
    ["I heard that Anna's cat is called Tom", ANNA],
    ['Gestern war Anna in Rom', ANNA],
    ['<@1001> moved to Rome', ANNA],
    ['Annabel lives in Rome', ANNABEL],
    ['Bob likes Anna', BOB],
    ['Annabelle lives in Rome', BOB],
    ['I live in Rome', BOB],
  ];
  for (const [text, subject] of subjects) {
    const name = subject === BOB ? 'Bob' : subject === ANNA ? 'Anna' : 'Annabel';
    it(`takes "${text}", said by Bob, to be about ${name} where the model does not say`, async () => {
      await using harness = await openMemoryHarness();
      const { memory } = await harness.say(BOB, text);
      expect(memory?.subject).to.equal(subject);
    });
  }

  it('knows what it has heard before, word for word', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'I love pizza');
    expect((await harness.say(ANNA, 'i LOVE pizza!', { messageId: '1' })).outcome).to.equal('known');
    expect((await harness.say(ANNA, 'I really love pizza', { messageId: '2' })).outcome).to.equal('added');
    expect(await harness.standing()).to.deep.equal(['I really love pizza', 'i LOVE pizza!']);
  });

  for (const [one, other] of [
    ['I have 2 cats', 'I have 3 cats'],
    ['Ich esse sonntags Fleisch', 'Ich esse sonntags kein Fleisch'],
    ['I eat meat on Sundays', "I don't eat meat on Sundays"],
    ['My brother works at the bakery in Bonn on Mondays', 'My brother works at the bakery in Rome on Mondays'],
  ] as const) {
    it(`does not take "${other}" for "${one}"`, async () => {
      await using harness = await openMemoryHarness();
      await harness.say(ANNA, one);
      expect((await harness.say(ANNA, other)).outcome).to.equal('added');
    });
  }

  it('does not merge what two people say', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'I love pizza');
    expect((await harness.say(BOB, 'I love pizza')).outcome).to.equal('added');
  });

  it('replaces the memory that the model names as superseded, and keeps that as history', async () => {
    await using harness = await openMemoryHarness();
    const { memory: first } = await harness.say(ANNA, 'I live in Bonn');
    const supersedes = [first?.id ?? '', 'no such id'];
    const { outcome, memory, replaced } = await harness.say(ANNA, 'I moved to Rome', { supersedes });
    expect(outcome).to.equal('updated');
    expect(replaced.map(({ id, supersededBy }) => [id, supersededBy])).to.deep.equal([[first?.id, memory?.id]]);
    expect(await harness.ask('Where does Anna live?')).to.deep.equal(['I moved to Rome']);
    expect(textsOf(await harness.memories.list(GENERAL, { all: true }))).to.deep.equal([
      'I moved to Rome',
      'I live in Bonn',
    ]);
  });

  it('replaces no later memory', async () => {
    await using harness = await openMemoryHarness();
    const earlier = harness.clock.now();
    const { memory } = await harness.say(ANNA, 'I live in Bonn');
    const supersedes = [memory?.id ?? ''];
    expect((await harness.say(ANNA, 'I live in Rome', { at: earlier, supersedes })).outcome).to.equal('added');
    expect(await harness.standing()).to.include('I live in Bonn');
  });

  it('never puts hearsay in the place of what people say of themselves, whatever a model decides', async () => {
    await using harness = await openMemoryHarness();
    const { memory: own } = await harness.say(ANNA, 'I live in Bonn');
    const { memory: other } = await harness.say(BOB, 'Anna has a cat', { subject: ANNA });
    const supersedes = [own?.id ?? '', other?.id ?? ''];
    const added = await harness.say(BOB, 'Anna is homeless, and her cat is dead', { subject: ANNA, supersedes });
    expect(textsOf(added.replaced)).to.deep.equal(['Anna has a cat']);
    expect(await harness.standing()).to.include('I live in Bonn');
  });

  it('does not replace public knowledge by what only the staff may know', async () => {
    await using harness = await openMemoryHarness();
    const { memory } = await harness.say(ANNA, 'I live in Bonn');
    const supersedes = [memory?.id ?? ''];
    await harness.say(ANNA, 'I live in Rome', { place: STAFF, visibility: 'channel', supersedes });
    expect(await harness.ask('Where does Anna live?')).to.deep.equal(['I live in Bonn']);
    expect(await harness.ask('Where does Anna live?', { place: STAFF })).to.include('I live in Rome');
  });

  it('lets no model supersede what the place may not see', async () => {
    await using harness = await openMemoryHarness();
    const { memory } = await harness.say(ANNA, 'The code is 7', { place: STAFF, visibility: 'channel' });
    const { outcome } = await harness.say(ANNA, 'There is no code', { supersedes: [memory?.id ?? ''] });
    expect(outcome).to.equal('added');
    expect(await harness.standing(STAFF)).to.include('The code is 7');
  });

  it('refuses what is empty, and brings importance into its range', async () => {
    await using harness = await openMemoryHarness();
    expect((await harness.say(ANNA, '  \n ')).outcome).to.equal('refused');
    expect((await harness.say(ANNA, 'Tea is good', { importance: 99 })).memory?.importance).to.equal(10);
    expect((await harness.say(ANNA, 'Tea is fine', { importance: Number.NaN })).memory?.importance).to.equal(3);
  });

  it('deletes the least valuable memories when there is no more space, history first', async () => {
    await using harness = await openMemoryHarness({ capacity: 10 });
    const { memory } = await harness.say(ANNA, 'I live in Bonn', { importance: 10 });
    await harness.say(ANNA, 'I live in Rome', { importance: 10, supersedes: [memory?.id ?? ''] });
    for (let index = 0; index < 9; index++)
      await harness.say(BOB, `Remark number ${index}`, { importance: index === 4 ? 9 : 2 });
    harness.clock.advance(3_600_000);
    await harness.say(BOB, 'One remark more', { importance: 2 });
    const all = textsOf(await harness.memories.list(GENERAL, { all: true }));
    expect(all).to.have.lengthOf(10);
    expect(all).to.include.members(['I live in Rome', 'Remark number 4', 'One remark more']);
    expect(all).not.to.include('I live in Bonn');
    expect(all).not.to.include('Remark number 0');
  });
});
