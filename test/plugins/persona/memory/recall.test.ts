import { compose } from '@cinnabar/plugin-persona/memory/compose';
import { createSearch } from '@cinnabar/plugin-persona/memory/recall/search';
import { createTable } from '@cinnabar/plugin-persona/memory/table/table';
import type { Embed } from '@cinnabar/plugin-persona/memory/types';
import { expect } from 'chai';
import { ANNA, ANNABEL, BOB, DM, ELSEWHERE, GENERAL, openRoom, STAFF } from './room.js';

const HOUR_MS = 3_600_000;

describe('persona: what its memory brings up', () => {
  describe('about people', () => {
    it('brings up facts of the one who is asked about, not of one with a similar name', async () => {
      await using room = await openRoom();
      await room.say(ANNA, 'I live in Bonn');
      await room.say(ANNABEL, 'I live in Rome');
      expect(await room.ask('Where does Anna live?')).to.deep.equal(['I live in Bonn']);
      expect(await room.ask('where does annabel live')).to.deep.equal(['I live in Rome']);
      expect(await room.ask(`Where does <@${ANNABEL}> live?`)).to.deep.equal(['I live in Rome']);
    });

    it('brings up nobody’s facts when asked about somebody unknown', async () => {
      await using room = await openRoom();
      await room.say(ANNA, 'I live in Bonn');
      for (const name of ['Annika', 'Ann', '<@4444>', '@anne']) {
        expect(await room.ask(`Where does ${name} live?`), name).to.deep.equal([]);
      }
    });

    it('takes "I" and "my" for the one who asks', async () => {
      await using room = await openRoom();
      await room.say(ANNA, 'My birthday is on 3 March');
      await room.say(BOB, 'My birthday is on 4 May');
      expect(await room.ask('when is my birthday?', { askedBy: BOB })).to.deep.equal(['My birthday is on 4 May']);
      expect(await room.ask('When was I born?', { askedBy: ANNA })).to.deep.equal(['My birthday is on 3 March']);
    });

    it('looks among everybody when asked who', async () => {
      await using room = await openRoom();
      await room.say(ANNA, 'I live in Bonn');
      await room.say(BOB, 'I live in Rome');
      expect((await room.ask('Who lives in Rome?', { askedBy: ANNA }))[0]).to.equal('I live in Rome');
    });

    it('keeps two people of the same name apart by their ids', async () => {
      await using room = await openRoom();
      await room.say('2001', 'I live in Bonn', { speakerName: 'Alex' });
      await room.say('2002', 'I live in Rome', { speakerName: 'Alex' });
      const found = await room.memories.retrieve({ place: GENERAL, query: 'Where does Alex live?' });
      expect(found.map(({ memory }) => memory.subject)).to.have.members(['2001', '2002']);
      expect(await room.memories.retrieve({ place: GENERAL, query: 'home', about: ['2002'] })).to.have.lengthOf(1);
    });

    it('has what is about nobody for everybody who asks', async () => {
      await using room = await openRoom();
      await room.say(BOB, 'Pizza Friday is in the kitchen', { subject: 'pizza friday' });
      expect(await room.ask('Is Anna coming to pizza Friday?')).to.deep.equal(['Pizza Friday is in the kitchen']);
    });
  });

  describe('by its worth', () => {
    it('prefers the recent: 0.995 an hour since it was last recalled', async () => {
      await using room = await openRoom();
      await room.say(ANNA, 'The old bridge is closed', { subject: 'bridge' });
      room.clock.advance(1_000 * HOUR_MS);
      await room.say(ANNA, 'The other bridge is closed', { subject: 'bridge' });
      const [first, second] = await room.memories.retrieve({ place: GENERAL, query: 'bridge' });
      expect(first?.memory.text).to.equal('The other bridge is closed');
      expect(second?.recency).to.be.lessThan(first?.recency ?? 0);
    });

    it('remembers that something was recalled', async () => {
      await using room = await openRoom();
      const { memory } = await room.say(ANNA, 'The bridge is closed');
      room.clock.advance(100 * HOUR_MS);
      await room.ask('bridge');
      expect((await room.memories.find(GENERAL, memory?.id ?? ''))?.lastAccess).to.equal(room.clock.now());
      await using later = await room.restart();
      expect((await later.memories.find(GENERAL, memory?.id ?? ''))?.lastAccess).to.equal(room.clock.now());
    });

    it('prefers the important, and without a question brings up what is recent and important', async () => {
      await using room = await openRoom();
      await room.say(ANNA, 'The green lamp flickers', { importance: 2, subject: 'lamp' });
      await room.say(ANNA, 'The blue lamp burnt the house', { importance: 9, subject: 'lamp' });
      await room.say(ANNA, 'The red lamp flickers', { importance: 2, subject: 'lamp' });
      expect((await room.ask('lamp'))[0]).to.equal('The blue lamp burnt the house');
      expect((await room.ask(''))[0]).to.equal('The blue lamp burnt the house');
    });

    it('scores by the product of the three', async () => {
      await using room = await openRoom();
      await room.say(ANNA, 'The bridge is closed');
      for (const { score, recency, importance, relevance } of await room.memories.retrieve({
        place: GENERAL,
        query: 'bridge',
      })) {
        expect(score)
          .to.be.closeTo(recency * importance * relevance, 1e-9)
          .and.to.be.within(0, 1);
      }
    });

    it('leaves room for an answer between copies of the same joke', async () => {
      await using room = await openRoom();
      for (let index = 0; index < 8; index++)
        await room.say(`30${index}`, 'Bonn is boring, Bonn is Bonn', { subject: 'bonn' });
      await room.say(BOB, 'The train to Bonn leaves at nine from platform three', { subject: 'bonn' });
      expect((await room.ask('Bonn', { limit: 3 })).slice(0, 2)).to.include(
        'The train to Bonn leaves at nine from platform three',
      );
    });

    it('finds what is said in other words of the same topic', async () => {
      await using room = await openRoom();
      await room.say(ANNA, 'Long shift again, the life of a nurse');
      await room.say(ANNA, 'The tram was late');
      expect((await room.ask('What is Anna’s profession?'))[0]).to.equal('Long shift again, the life of a nurse');
    });
  });

  describe('with embeddings', () => {
    /** Cats and dogs are near to one another, everything else is not. */
    const embed: Embed = async (texts) =>
      texts.map((text) => (/cat|kitten|tabby/i.test(text) ? [1, 0.1, 0] : [0, 0.1, 1]));

    it('finds what has no word in common', async () => {
      await using room = await openRoom({ embed });
      await room.say(ANNA, 'Our tabby sleeps all day', { subject: 'household' });
      await room.say(ANNA, 'Concrete needs water', { subject: 'household' });
      await using later = await room.restart();
      expect((await later.ask('kittens'))[0]).to.equal('Our tabby sleeps all day');
    });

    it('goes by words when the provider fails, and says so in the log', async () => {
      await using room = await openRoom({ embed: () => Promise.reject(new Error('down')) });
      await room.say(ANNA, 'Our tabby sleeps all day');
      expect(await room.ask('tabby')).to.deep.equal(['Our tabby sleeps all day']);
      expect(room.log.entries.map(({ message }) => message)).to.include('no embeddings were made; words alone decide');
    });
  });

  describe('where', () => {
    it('tells what was said in a channel there alone, unless it is for the guild', async () => {
      await using room = await openRoom();
      await room.say(ANNA, 'The safe is behind the picture', { place: STAFF, visibility: 'channel' });
      await room.say(ANNA, 'The safe is red', { place: STAFF, visibility: 'guild' });
      expect(await room.ask('safe')).to.deep.equal(['The safe is red']);
      expect(await room.ask('safe', { place: STAFF })).to.have.lengthOf(2);
    });

    it('takes nothing out of a direct message, whatever visibility it is given', async () => {
      await using room = await openRoom();
      const { memory } = await room.say(ANNA, 'I am looking for another job', { place: DM, visibility: 'guild' });
      expect(memory?.visibility).to.equal('dm');
      expect(await room.ask('job', { place: DM })).to.have.lengthOf(1);
      for (const place of [GENERAL, STAFF, ELSEWHERE, { ...DM, channelId: '802' }]) {
        expect(await room.ask('job', { place })).to.deep.equal([]);
      }
    });

    it('shows, deletes and restores nothing from elsewhere', async () => {
      await using room = await openRoom();
      const { memory } = await room.say(ANNA, 'The safe is red', { place: STAFF, visibility: 'channel' });
      const id = memory?.id ?? '';
      for (const place of [GENERAL, ELSEWHERE, DM, { ...STAFF, mind: 'other' }]) {
        expect(await room.memories.find(place, id)).to.equal(undefined);
        expect(await room.memories.remove(place, id)).to.equal(0);
        expect(await room.memories.retract(place, id)).to.equal(0);
        expect(await room.memories.setAside(place, id)).to.equal(false);
        expect(await room.memories.list(place, { all: true })).to.deep.equal([]);
      }
      expect(await room.standing(STAFF)).to.deep.equal(['The safe is red']);
    });

    it('refuses places that are no ids', async () => {
      await using room = await openRoom();
      for (const place of [
        { ...GENERAL, guildId: '../../etc' },
        { ...DM, channelId: 'x' },
        { ...GENERAL, mind: '../up' },
      ]) {
        const refused = await room.memories.list(place).catch((error: unknown) => error);
        expect(refused).to.be.instanceOf(TypeError);
      }
    });
  });

  it('puts the later of two of one matter first, and keeps both: nobody knows whether it is a correction', async () => {
    await using room = await openRoom();
    await room.say(ANNA, 'cannot start a day without coffee', { importance: 4 });
    await room.say(ANNA, 'cannot start a day without tea', { importance: 3 });
    expect(await room.ask('What does Anna drink?')).to.deep.equal([
      'cannot start a day without tea',
      'cannot start a day without coffee',
    ]);
  });
});

describe('persona: the words of memories', () => {
  it('are known as long as a memory has them', () => {
    const table = createTable();
    const search = createSearch(table);
    const said = (id: string, text: string) =>
      compose({ place: GENERAL, text, speaker: ANNA, messageId: id, visibility: 'guild' }, table, id, 1);
    table.apply({ put: [said('a', 'I like green tea'), said('b', 'Tea is fine')] });
    expect(['tea', 'green'].map(search.knows)).to.deep.equal([true, true]);
    table.apply({ drop: ['a'] });
    expect(['tea', 'green'].map(search.knows)).to.deep.equal([true, false]);
    table.apply({ put: [said('b', 'Coffee is fine')] });
    expect(['tea', 'coffee'].map(search.knows)).to.deep.equal([false, true]);
  });
});
