import { expect } from 'chai';
import { ANNA, ANNABEL, BOB, GENERAL, openRoom, STAFF, textsOf } from './room.js';

describe('persona: what is added to its memory', () => {
  it('keeps who said it, of whom, where, when and in which message', async () => {
    await using room = await openRoom();
    const { memory } = await room.say(ANNA, 'I live in Bonn', { messageId: '77', importance: 6 });
    expect(memory).to.include({
      kind: 'fact',
      text: 'I live in Bonn',
      speaker: ANNA,
      subject: ANNA,
      messageId: '77',
      channelId: GENERAL.channelId,
      guildId: GENERAL.guildId,
      at: room.clock.now(),
      importance: 6,
      visibility: 'guild',
      supersededBy: null,
      attribute: 'home',
    });
  });

  it('takes it for the speaker alone when nobody says where it may be told, and for the channel it was said in', async () => {
    await using room = await openRoom();
    const { memory } = await room.memories.add({ place: GENERAL, text: 'I like tea', speaker: ANNA });
    expect(memory?.visibility).to.equal('channel');
  });

  const subjects: readonly (readonly [text: string, subject: string])[] = [
    ['Anna lives in Rome', ANNA],
    ["I heard that Anna's cat is called Tom", ANNA],
    ['careful, Anna cannot eat nuts', ANNA],
    ['<@1001> moved to Rome', ANNA],
    ['I met Anna in Rome', BOB],
    ['Anna, I live in Rome', BOB],
    ['Anna could you help? It is for Rome', BOB],
    ['Annabelle lives in Rome', BOB],
    ['Annabel lives in Rome', ANNABEL],
    ['my birthday is in May, Anna', BOB],
  ];
  for (const [text, subject] of subjects) {
    it(`takes "${text}", said by Bob, to be about ${subject === BOB ? 'Bob' : subject === ANNA ? 'Anna' : 'Annabel'}`, async () => {
      await using room = await openRoom();
      const { memory } = await room.say(BOB, text);
      expect(memory?.subject).to.equal(subject);
    });
  }

  it('knows what it has heard before, word for word or with words that add nothing', async () => {
    await using room = await openRoom();
    await room.say(ANNA, 'I love pizza');
    expect((await room.say(ANNA, 'i LOVE pizza!', { messageId: '1' })).outcome).to.equal('known');
    expect((await room.say(ANNA, 'I really love pizza', { messageId: '2' })).outcome).to.equal('merged');
    expect(await room.standing()).to.deep.equal(['I really love pizza']);
  });

  it('takes a word that is repeated for the latest, against what others said in between', async () => {
    await using room = await openRoom();
    await room.say(ANNA, 'I live in Bonn');
    await room.say(BOB, 'Anna lives in Rome');
    expect((await room.say(ANNA, 'I live in Bonn!', { messageId: '1' })).outcome).to.equal('known');
    expect(await room.standing()).to.deep.equal(['I live in Bonn!']);
  });

  it('keeps the fuller of two that say the same', async () => {
    await using room = await openRoom();
    await room.say(ANNA, 'I have a red racing bicycle');
    const { outcome } = await room.say(ANNA, 'I have a big red racing bicycle now');
    expect(outcome).to.equal('merged');
    expect(await room.standing()).to.deep.equal(['I have a big red racing bicycle now']);
  });

  for (const [one, other] of [
    ['I have 2 cats', 'I have 3 cats'],
    ['I eat meat on Sundays', "I don't eat meat on Sundays"],
    ['My brother works at the bakery in Bonn on Mondays', 'My brother works at the bakery in Rome on Mondays'],
  ] as const) {
    it(`does not take "${other}" for "${one}"`, async () => {
      await using room = await openRoom();
      await room.say(ANNA, one, { attribute: null });
      expect((await room.say(ANNA, other, { attribute: null })).outcome).to.equal('added');
    });
  }

  it('does not merge what two people say', async () => {
    await using room = await openRoom();
    await room.say(ANNA, 'I love pizza');
    expect((await room.say(BOB, 'I love pizza')).outcome).to.equal('added');
  });

  it('puts a later word in the place of an earlier one, and keeps the earlier as history', async () => {
    await using room = await openRoom();
    const { memory: first } = await room.say(ANNA, 'I live in Bonn');
    const { outcome, memory, replaced } = await room.say(ANNA, 'I moved to Rome');
    expect(outcome).to.equal('updated');
    expect(replaced.map(({ id, supersededBy }) => [id, supersededBy])).to.deep.equal([[first?.id, memory?.id]]);
    expect(await room.ask('Where does Anna live?')).to.deep.equal(['I moved to Rome']);
    expect(textsOf(await room.memories.history(GENERAL, memory?.id ?? ''))).to.deep.equal(['I live in Bonn']);
  });

  it('takes back what is no longer so', async () => {
    await using room = await openRoom();
    await room.say(ANNA, 'I love pizza');
    await room.say(ANNA, 'I hate pizza now');
    expect(await room.standing()).to.deep.equal(['I hate pizza now']);
  });

  it('finds what is said late to be outdated', async () => {
    await using room = await openRoom();
    const earlier = room.clock.now();
    await room.say(ANNA, 'I live in Bonn');
    const { outcome, memory } = await room.say(ANNA, 'I live in Rome', { at: earlier });
    expect(outcome).to.equal('outdated');
    expect(memory?.text).to.equal('I live in Bonn');
  });

  it('never puts hearsay in the place of what people say of themselves', async () => {
    await using room = await openRoom();
    await room.say(ANNA, 'I live in Bonn');
    expect((await room.say(BOB, 'Anna lives in Rome')).outcome).to.equal('added');
    expect((await room.ask('Where does Anna live?'))[0]).to.equal('I live in Bonn');
    await room.say(ANNA, 'I live in Oslo');
    expect(await room.ask('Where does Anna live?')).to.deep.equal(['I live in Oslo']);
  });

  it('does not put what only the staff may know in the place of what everybody knows', async () => {
    await using room = await openRoom();
    await room.say(ANNA, 'I live in Bonn');
    await room.say(ANNA, 'I live in Rome', { place: STAFF, visibility: 'channel' });
    expect(await room.ask('Where does Anna live?')).to.deep.equal(['I live in Bonn']);
    expect(await room.ask('Where does Anna live?', { place: STAFF })).to.deep.equal(['I live in Rome']);
  });

  it('does as a model decides: adds, supersedes, merges, or leaves it', async () => {
    await using room = await openRoom();
    const { memory: sushi } = await room.say(ANNA, 'Sushi is what I order');
    const { memory: ramen } = await room.say(ANNA, 'Ramen is what I order');
    const draft = { place: GENERAL, speaker: ANNA, visibility: 'guild' } as const;
    const ids = [sushi?.id ?? '', ramen?.id ?? ''];

    expect((await room.memories.add({ ...draft, text: 'Never mind' }, { kind: 'nothing' })).outcome).to.equal(
      'nothing',
    );
    const merged = await room.memories.add(
      { ...draft, text: 'Gyoza, too' },
      { kind: 'merge', ids, text: 'Anna orders sushi, ramen and gyoza' },
    );
    expect(merged.outcome).to.equal('merged');
    expect(await room.standing()).to.deep.equal(['Anna orders sushi, ramen and gyoza']);

    const { outcome } = await room.memories.add(
      { ...draft, text: 'I only order curry', at: room.clock.now() + 1_000 },
      { kind: 'supersede', ids: [merged.memory?.id ?? '', 'no such id'] },
    );
    expect(outcome).to.equal('updated');
    expect(await room.standing()).to.deep.equal(['I only order curry']);
  });

  it('lets no decision touch what the place may not see', async () => {
    await using room = await openRoom();
    const { memory } = await room.say(ANNA, 'The code is 7', { place: STAFF, visibility: 'channel' });
    const { outcome } = await room.say(ANNA, 'The code is 8', {});
    expect(outcome).to.equal('added');
    await room.memories.add(
      { place: GENERAL, text: 'There is no code', speaker: ANNA, visibility: 'guild' },
      { kind: 'supersede', ids: [memory?.id ?? ''] },
    );
    expect(await room.standing(STAFF)).to.include('The code is 7');
  });

  it('shows a model what it has to decide about', async () => {
    await using room = await openRoom();
    await room.say(ANNA, 'My bike is blue');
    await room.say(ANNA, 'Tomatoes grow on the balcony');
    await room.say(BOB, 'My bike is green');
    const similar = await room.memories.similar({
      place: GENERAL,
      speaker: ANNA,
      text: 'I sold the bike',
      visibility: 'guild',
    });
    expect(textsOf(similar)).to.deep.equal(['My bike is blue']);
  });

  it('refuses what is empty, and brings importance into its range', async () => {
    await using room = await openRoom();
    expect((await room.say(ANNA, '  \n ')).outcome).to.equal('refused');
    expect((await room.say(ANNA, 'Tea is good', { importance: 99 })).memory?.importance).to.equal(10);
    expect((await room.say(ANNA, 'Tea is fine', { importance: Number.NaN })).memory?.importance).to.equal(3);
  });

  it('forgets the least valuable when there is no more room, history first', async () => {
    await using room = await openRoom({ capacity: 10 });
    await room.say(ANNA, 'I live in Bonn', { importance: 10 });
    await room.say(ANNA, 'I live in Rome', { importance: 10 });
    for (let index = 0; index < 9; index++)
      await room.say(BOB, `Remark number ${index}`, { importance: index === 4 ? 9 : 2 });
    room.clock.advance(3_600_000);
    await room.say(BOB, 'One remark more', { importance: 2 });
    const all = textsOf(await room.memories.list(GENERAL, { all: true }));
    expect(all).to.have.lengthOf(10);
    expect(all).to.include.members(['I live in Rome', 'Remark number 4', 'One remark more']);
    expect(all).not.to.include('I live in Bonn');
    expect(all).not.to.include('Remark number 0');
  });

  it('does not put hearsay in the place of what people say of themselves, whatever a model decides', async () => {
    await using room = await openRoom();
    const { memory: own } = await room.say(ANNA, 'I live in Bonn');
    const { memory: other } = await room.say(BOB, 'Anna has a cat', { subject: ANNA });
    const ids = [own?.id ?? '', other?.id ?? ''];
    const added = await room.memories.add(
      {
        place: GENERAL,
        text: 'Anna is homeless, and her cat is dead',
        speaker: BOB,
        subject: ANNA,
        visibility: 'guild',
      },
      { kind: 'supersede', ids },
    );
    expect(added.replaced.map(({ text }) => text)).to.deep.equal(['Anna has a cat']);
    expect(await room.standing()).to.include('I live in Bonn');
  });
});
