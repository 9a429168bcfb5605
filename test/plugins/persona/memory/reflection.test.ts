import { expect } from 'chai';
import { ANNA, BOB, DM, GENERAL, openRoom, refOf, STAFF, textsOf } from './room.js';

describe('persona: reflection', () => {
  it('is due when importance has added up to 150', async () => {
    await using room = await openRoom();
    for (let index = 0; index < 14; index++) await room.say(ANNA, `Event number ${index}`, { importance: 10 });
    expect(await room.memories.reflection(GENERAL)).to.include({ due: false, sum: 140 });
    await room.say(ANNA, 'Event number 14', { importance: 10 });
    const { due, sum, evidence } = await room.memories.reflection(GENERAL);
    expect({ due, sum, first: evidence[0]?.text, count: evidence.length }).to.deep.equal({
      due: true,
      sum: 150,
      first: 'Event number 0',
      count: 15,
    });
  });

  it('counts no repetition, and nothing that was deleted', async () => {
    await using room = await openRoom();
    await room.say(ANNA, 'I love pizza', { importance: 5 });
    await room.say(ANNA, 'I love pizza!', { importance: 5 });
    await room.say(ANNA, 'I have two brothers', { importance: 5 });
    await room.memories.messageDeleted(refOf('I have two brothers'));
    expect((await room.memories.reflection(GENERAL)).sum).to.equal(5);
    const { evidence } = await room.memories.reflection(GENERAL);
    await room.memories.reflect(GENERAL, [{ text: 'Anna eats', evidence: evidence.map(({ id }) => id) }]);
    await room.say(ANNA, 'I love pizza!!', { importance: 5 });
    expect((await room.memories.reflection(GENERAL)).sum).to.equal(0);
  });

  it('stores what came of it with its evidence, and counts anew, also after a restart', async () => {
    await using room = await openRoom();
    const { memory: one } = await room.say(ANNA, 'I run every morning');
    const { memory: other } = await room.say(ANNA, 'I eat five apples a day');
    const evidence = [one?.id ?? '', other?.id ?? ''];
    const [insight] = await room.memories.reflect(GENERAL, [{ text: 'Anna lives healthily', evidence }]);
    expect(insight).to.include({
      kind: 'reflection',
      subject: ANNA,
      speaker: '9000',
      visibility: 'guild',
      messageId: null,
    });
    expect(insight?.evidence.map(({ id }) => id)).to.deep.equal(evidence);
    expect((await room.memories.reflection(GENERAL)).sum).to.equal(0);
    await using later = await room.restart();
    expect((await later.memories.reflection(GENERAL)).sum).to.equal(0);
    expect(await later.ask('Is Anna healthy?')).to.include('Anna lives healthily');
  });

  it('keeps counting what came after it when the file is written anew', async () => {
    await using room = await openRoom();
    const { memory } = await room.say(ANNA, 'I run every morning', { importance: 4 });
    await room.memories.reflect(GENERAL, [{ text: 'Anna runs', evidence: [memory?.id ?? ''] }]);
    await room.say(ANNA, 'The shop is closed', { importance: 2 });
    await room.say(BOB, 'Nobody cares', { importance: 3 });
    await room.memories.messageDeleted(refOf('Nobody cares'));
    await using later = await room.restart();
    expect(textsOf((await later.memories.reflection(GENERAL)).evidence)).to.deep.equal(['The shop is closed']);
  });

  it('goes when any of its evidence is deleted', async () => {
    await using room = await openRoom();
    const { memory: one } = await room.say(ANNA, 'I run every morning');
    const { memory: other } = await room.say(ANNA, 'I eat five apples a day');
    const [first] = await room.memories.reflect(GENERAL, [
      { text: 'Anna lives healthily', evidence: [one?.id ?? '', other?.id ?? ''] },
    ]);
    await room.memories.reflect(GENERAL, [{ text: 'Anna will live long', evidence: [first?.id ?? ''] }]);
    await room.memories.messageDeleted(refOf('I run every morning'));
    expect(await room.standing()).to.deep.equal(['I eat five apples a day']);
  });

  it('goes with its evidence even when that was forgotten for want of room before', async () => {
    await using room = await openRoom({ capacity: 5 });
    const { memory } = await room.say(ANNA, 'I run every morning', { importance: 1 });
    await room.memories.reflect(GENERAL, [{ text: 'Anna is a runner', evidence: [memory?.id ?? ''], importance: 10 }]);
    for (let index = 0; index < 6; index++) await room.say(BOB, `Remark ${index}`, { importance: 8 });
    expect(await room.standing())
      .to.include('Anna is a runner')
      .and.not.to.include('I run every morning');
    await room.memories.messageDeleted(refOf('I run every morning'));
    expect(await room.standing()).not.to.include('Anna is a runner');
  });

  it('is told no further than what it rests on', async () => {
    await using room = await openRoom();
    const { memory: open } = await room.say(ANNA, 'I run every morning');
    const { memory: secret } = await room.say(BOB, 'Anna will be promoted', { place: STAFF, visibility: 'channel' });
    const evidence = [open?.id ?? '', secret?.id ?? ''];
    const [insight] = await room.memories.reflect(STAFF, [{ text: 'Anna is doing well', evidence }]);
    expect(insight).to.include({ visibility: 'channel', channelId: STAFF.channelId });
    expect(await room.standing()).to.deep.equal(['I run every morning']);
    const [here] = await room.memories.reflect(GENERAL, [{ text: 'Anna runs', evidence }]);
    expect(here?.evidence.map(({ id }) => id)).to.deep.equal([open?.id]);
  });

  it('leaves out what rests on nothing that the place knows', async () => {
    await using room = await openRoom();
    const { memory } = await room.say(ANNA, 'I am ill', { place: DM });
    const insights = [
      { text: 'Anna is ill', evidence: [memory?.id ?? ''] },
      { text: 'Made up', evidence: [] },
    ];
    expect(await room.memories.reflect(GENERAL, insights)).to.deep.equal([]);
    expect(await room.standing()).to.deep.equal([]);
  });
});
