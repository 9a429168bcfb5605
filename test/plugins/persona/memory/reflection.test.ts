import { expect } from 'chai';
import { ANNA, BOB, DM, GENERAL, openMemoryHarness, refOf, STAFF, textsOf } from './harness.js';

describe('persona: reflection', () => {
  it('is due when importance has added up to 150', async () => {
    await using harness = await openMemoryHarness();
    for (let index = 0; index < 14; index++) await harness.say(ANNA, `Event number ${index}`, { importance: 10 });
    expect(await harness.memories.reflection(GENERAL)).to.include({ due: false, sum: 140 });
    await harness.say(ANNA, 'Event number 14', { importance: 10 });
    const { due, sum, evidence } = await harness.memories.reflection(GENERAL);
    expect({ due, sum, first: evidence[0]?.text, count: evidence.length }).to.deep.equal({
      due: true,
      sum: 150,
      first: 'Event number 0',
      count: 15,
    });
  });

  it('counts no repetition, and nothing that was deleted', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'I love pizza', { importance: 5 });
    await harness.say(ANNA, 'I love pizza!', { importance: 5 });
    await harness.say(ANNA, 'I have two brothers', { importance: 5 });
    await harness.memories.messageDeleted(refOf('I have two brothers'));
    expect((await harness.memories.reflection(GENERAL)).sum).to.equal(5);
    const { evidence } = await harness.memories.reflection(GENERAL);
    await harness.memories.reflect(GENERAL, [{ text: 'Anna eats', evidence: evidence.map(({ id }) => id) }]);
    await harness.say(ANNA, 'I love pizza!!', { importance: 5 });
    expect((await harness.memories.reflection(GENERAL)).sum).to.equal(0);
  });

  it('stores what came of it with its evidence, and counts anew, also after a restart', async () => {
    await using harness = await openMemoryHarness();
    const { memory: one } = await harness.say(ANNA, 'I run every morning');
    const { memory: other } = await harness.say(ANNA, 'I eat five apples a day');
    const evidence = [one?.id ?? '', other?.id ?? ''];
    const [insight] = await harness.memories.reflect(GENERAL, [{ text: 'Anna lives healthily', evidence }]);
    expect(insight).to.include({
      kind: 'reflection',
      subject: ANNA,
      speaker: '9000',
      visibility: 'guild',
      messageId: null,
    });
    expect(insight?.evidence.map(({ id }) => id)).to.deep.equal(evidence);
    expect((await harness.memories.reflection(GENERAL)).sum).to.equal(0);
    await using later = await harness.restart();
    expect((await later.memories.reflection(GENERAL)).sum).to.equal(0);
    expect(await later.ask('Is Anna healthy?')).to.include('Anna lives healthily');
  });

  it('keeps counting what came after it when the file is written anew', async () => {
    await using harness = await openMemoryHarness();
    const { memory } = await harness.say(ANNA, 'I run every morning', { importance: 4 });
    await harness.memories.reflect(GENERAL, [{ text: 'Anna runs', evidence: [memory?.id ?? ''] }]);
    await harness.say(ANNA, 'The shop is closed', { importance: 2 });
    await harness.say(BOB, 'Nobody cares', { importance: 3 });
    await harness.memories.messageDeleted(refOf('Nobody cares'));
    await using later = await harness.restart();
    expect(textsOf((await later.memories.reflection(GENERAL)).evidence)).to.deep.equal(['The shop is closed']);
  });

  it('goes when any of its evidence is deleted', async () => {
    await using harness = await openMemoryHarness();
    const { memory: one } = await harness.say(ANNA, 'I run every morning');
    const { memory: other } = await harness.say(ANNA, 'I eat five apples a day');
    const [first] = await harness.memories.reflect(GENERAL, [
      { text: 'Anna lives healthily', evidence: [one?.id ?? '', other?.id ?? ''] },
    ]);
    await harness.memories.reflect(GENERAL, [{ text: 'Anna will live long', evidence: [first?.id ?? ''] }]);
    await harness.memories.messageDeleted(refOf('I run every morning'));
    expect(await harness.standing()).to.deep.equal(['I eat five apples a day']);
  });

  it('is deleted with its evidence even if that was dropped before for lack of space', async () => {
    await using harness = await openMemoryHarness({ capacity: 5 });
    const { memory } = await harness.say(ANNA, 'I run every morning', { importance: 1 });
    await harness.memories.reflect(GENERAL, [
      { text: 'Anna is a runner', evidence: [memory?.id ?? ''], importance: 10 },
    ]);
    for (let index = 0; index < 6; index++) await harness.say(BOB, `Remark ${index}`, { importance: 8 });
    expect(await harness.standing())
      .to.include('Anna is a runner')
      .and.not.to.include('I run every morning');
    await harness.memories.messageDeleted(refOf('I run every morning'));
    expect(await harness.standing()).not.to.include('Anna is a runner');
  });

  it('has no larger audience than its evidence', async () => {
    await using harness = await openMemoryHarness();
    const { memory: open } = await harness.say(ANNA, 'I run every morning');
    const { memory: secret } = await harness.say(BOB, 'Anna will be promoted', { place: STAFF, visibility: 'channel' });
    const evidence = [open?.id ?? '', secret?.id ?? ''];
    const [insight] = await harness.memories.reflect(STAFF, [{ text: 'Anna is doing well', evidence }]);
    expect(insight).to.include({ visibility: 'channel', channelId: STAFF.channelId });
    expect(await harness.standing()).to.deep.equal(['I run every morning']);
    const [here] = await harness.memories.reflect(GENERAL, [{ text: 'Anna runs', evidence }]);
    expect(here?.evidence.map(({ id }) => id)).to.deep.equal([open?.id]);
  });

  it('leaves out what rests on nothing that the place knows', async () => {
    await using harness = await openMemoryHarness();
    const { memory } = await harness.say(ANNA, 'I am ill', { place: DM });
    const insights = [
      { text: 'Anna is ill', evidence: [memory?.id ?? ''] },
      { text: 'Made up', evidence: [] },
    ];
    expect(await harness.memories.reflect(GENERAL, insights)).to.deep.equal([]);
    expect(await harness.standing()).to.deep.equal([]);
  });
});
