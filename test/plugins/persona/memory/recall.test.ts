import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { ANNA, ANNABEL, BOB, DM, ELSEWHERE, GENERAL, openMemoryHarness, refOf, STAFF } from './harness.js';

type Embed = NonNullable<NonNullable<Parameters<typeof openMemoryHarness>[0]>['embed']>;

const HOUR_MS = 3_600_000;

describe('persona: recall', () => {
  describe('about people', () => {
    it('prefers facts of the one who is asked about to those of one with a similar name, and keeps both', async () => {
      await using harness = await openMemoryHarness();
      await harness.say(ANNA, 'I live in Bonn');
      await harness.say(ANNABEL, 'I live in Rome');
      const both = ['I live in Bonn', 'I live in Rome'];
      expect(await harness.ask('Where does Anna live?')).to.deep.equal(both);
      expect(await harness.ask('where does annabel live')).to.deep.equal([...both].reverse());
      expect(await harness.ask(`Where does <@${ANNABEL}> live?`)).to.deep.equal([...both].reverse());
    });

    it('knows a name in another case of its language', async () => {
      await using harness = await openMemoryHarness();
      await harness.say('2001', 'Я живу в Твери', { speakerName: 'Анна' });
      await harness.say('2002', 'Я живу в Туле', { speakerName: 'Борис' });
      expect((await harness.ask('Расскажи про Анну: где она живёт?'))[0]).to.equal('Я живу в Твери');
      expect((await harness.ask('Где квартира Бориса, где он живёт?'))[0]).to.equal('Я живу в Туле');
    });

    it('prefers facts about the requester where the question names no person', async () => {
      await using harness = await openMemoryHarness();
      await harness.say(ANNA, 'My birthday is on 3 March');
      await harness.say(BOB, 'My birthday is on 4 March');
      expect((await harness.ask('when is my birthday?', { askedBy: BOB }))[0]).to.equal('My birthday is on 4 March');
      expect((await harness.ask('Wann ist my birthday?', { askedBy: ANNA }))[0]).to.equal('My birthday is on 3 March');
    });

    it('searches all members when asked who', async () => {
      await using harness = await openMemoryHarness();
      await harness.say(ANNA, 'I live in Bonn');
      await harness.say(BOB, 'I live in Rome');
      expect((await harness.ask('Who lives in Rome?', { askedBy: ANNA }))[0]).to.equal('I live in Rome');
    });

    it('keeps two people of the same name apart by their ids', async () => {
      await using harness = await openMemoryHarness();
      await harness.say('2001', 'I live in Bonn', { speakerName: 'Alex' });
      await harness.say('2002', 'I live in Rome', { speakerName: 'Alex' });
      const found = await harness.memories.retrieve({ place: GENERAL, query: 'Where does Alex live?' });
      expect(found.map(({ memory }) => memory.subject)).to.have.members(['2001', '2002']);
      expect(await harness.memories.retrieve({ place: GENERAL, query: 'home', about: ['2002'] })).to.have.lengthOf(1);
    });

    it('returns data about no person to every requester', async () => {
      await using harness = await openMemoryHarness();
      await harness.say(BOB, 'Pizza Friday is in the kitchen', { subject: 'pizza friday' });
      expect(await harness.ask('Is Anna coming to pizza Friday?')).to.deep.equal(['Pizza Friday is in the kitchen']);
    });
  });

  describe('in any language', () => {
    const cases = [
      [
        'German',
        'Gestern haben wir das Hausboot gestrichen',
        'Im Keller steht ein Fahrrad',
        'Welche Farbe haben Hausboote?',
      ],
      ['Russian', 'Мы купили новую собаку', 'Вчера было холодно', 'Как зовут собак?'],
      ['Japanese', '私は新しい自転車を買いました', '昨日は雨でした', '自転車はどこ？'],
      ['Chinese', '我们去年在上海买了房子', '今天天气很好', '你们的房子在哪里？'],
      ['Korean', '우리는 새로운 자전거를 샀다', '어제는 비가 왔다', '자전거는 어디에 있어?'],
      ['Arabic', 'اشترينا دراجة جديدة', 'كان الجو باردا أمس', 'أين الدراجة؟'],
      ['Thai', 'เราซื้อจักรยานใหม่', 'เมื่อวานฝนตก', 'จักรยานอยู่ที่ไหน'],
      ['Finnish', 'Ostimme uuden polkupyörän', 'Eilen satoi', 'Missä polkupyöräni on?'],
    ] as const;
    for (const [language, answer, other, question] of cases) {
      it(`finds inflected and compound words in ${language}`, async () => {
        await using harness = await openMemoryHarness();
        await harness.say(ANNA, answer);
        await harness.say(BOB, other);
        expect((await harness.ask(question))[0]).to.equal(answer);
      });
    }

    for (const [question, first] of [
      ['What did Anna read in June 2023?', 'I read a book about boats'],
      ['Anna read what book в июле 2023?', 'I read a book about moats'],
      ['2022年7月 Anna read book?', 'I read a book about goats'],
      ['Anna hat letzte Woche read?', 'I read a book about coats'],
      ['昨日、アンナは何を read しましたか', 'I read a book about coats'],
    ] as const) {
      it(`prefers what was said at the time that is asked about: ${question}`, async () => {
        await using harness = await openMemoryHarness({ clock: createManualClock(Date.UTC(2024, 4, 20, 12)) });
        await harness.say(ANNA, 'I read a book about goats', { at: Date.UTC(2022, 6, 3) });
        await harness.say(ANNA, 'I read a book about boats', { at: Date.UTC(2023, 5, 3) });
        await harness.say(ANNA, 'I read a book about coats', { at: Date.UTC(2024, 4, 19, 15) });
        await harness.say(ANNA, 'I read a book about moats', { at: Date.UTC(2023, 6, 3) });
        expect((await harness.ask(question))[0]).to.equal(first);
      });
    }
  });

  it('finds an answer by the question right before it', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(BOB, 'Anna, which bicycle did you buy?');
    await harness.say(ANNA, 'The red one, it has seven gears');
    harness.clock.advance(HOUR_MS);
    await harness.say(ANNA, 'Dinner has seven courses');
    expect((await harness.ask('Which bicycle did Anna buy?')).slice(0, 2)).to.deep.equal([
      'Anna, which bicycle did you buy?',
      'The red one, it has seven gears',
    ]);
  });

  it('takes nothing from a neighbour that may not be told', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(BOB, 'The safe holds diamonds', { place: STAFF, visibility: 'channel' });
    await harness.say(ANNA, 'Lunch was fine', { place: STAFF, visibility: 'guild' });
    expect(await harness.ask('diamonds')).to.deep.equal([]);
    expect(await harness.ask('diamonds', { place: STAFF })).to.have.lengthOf(2);
  });

  describe('by its worth', () => {
    it('prefers the recent: 0.995 an hour since it was last recalled', async () => {
      await using harness = await openMemoryHarness();
      await harness.say(ANNA, 'The old bridge is closed', { subject: 'bridge' });
      harness.clock.advance(1_000 * HOUR_MS);
      await harness.say(ANNA, 'The other bridge is closed', { subject: 'bridge' });
      const [first, second] = await harness.memories.retrieve({ place: GENERAL, query: 'bridge' });
      expect(first?.memory.text).to.equal('The other bridge is closed');
      expect(second?.recency).to.be.lessThan(first?.recency ?? 0);
    });

    it('remembers that something was recalled', async () => {
      await using harness = await openMemoryHarness();
      const { memory } = await harness.say(ANNA, 'The bridge is closed');
      harness.clock.advance(100 * HOUR_MS);
      await harness.ask('bridge');
      expect((await harness.memories.find(GENERAL, memory?.id ?? ''))?.lastAccess).to.equal(harness.clock.now());
      await using later = await harness.restart();
      expect((await later.memories.find(GENERAL, memory?.id ?? ''))?.lastAccess).to.equal(harness.clock.now());
    });

    it('prefers the important, and without a question brings up what is recent and important', async () => {
      await using harness = await openMemoryHarness();
      await harness.say(ANNA, 'The green lamp flickers', { importance: 2, subject: 'lamp' });
      await harness.say(ANNA, 'The blue lamp burnt the house', { importance: 9, subject: 'lamp' });
      await harness.say(ANNA, 'The red lamp flickers', { importance: 2, subject: 'lamp' });
      expect((await harness.ask('lamp'))[0]).to.equal('The blue lamp burnt the house');
      expect((await harness.ask(''))[0]).to.equal('The blue lamp burnt the house');
    });

    it('scores by the product of the three', async () => {
      await using harness = await openMemoryHarness();
      await harness.say(ANNA, 'The bridge is closed');
      for (const { score, recency, importance, relevance } of await harness.memories.retrieve({
        place: GENERAL,
        query: 'bridge',
      })) {
        expect(score)
          .to.be.closeTo(recency * importance * relevance, 1e-9)
          .and.to.be.within(0, 1);
      }
    });

    it('leaves room for an answer between copies of the same joke', async () => {
      await using harness = await openMemoryHarness();
      for (let index = 0; index < 8; index++)
        await harness.say(`30${index}`, 'Bonn is boring, Bonn is Bonn', { subject: 'bonn' });
      await harness.say(BOB, 'The train to Bonn leaves at nine from platform three', { subject: 'bonn' });
      expect((await harness.ask('Bonn', { limit: 3 })).slice(0, 2)).to.include(
        'The train to Bonn leaves at nine from platform three',
      );
    });
  });

  describe('with embeddings', () => {
    /** Cats and dogs are near each other; everything else is not. */
    const embed: Embed = async (texts) =>
      texts.map((text) => (/cat|kitten|tabby/i.test(text) ? [1, 0.1, 0] : [0, 0.1, 1]));

    it('finds what has no word in common', async () => {
      await using harness = await openMemoryHarness({ embed });
      await harness.say(ANNA, 'Our tabby sleeps all day', { subject: 'household' });
      await harness.say(ANNA, 'Concrete needs water', { subject: 'household' });
      await using later = await harness.restart();
      expect((await later.ask('kittens'))[0]).to.equal('Our tabby sleeps all day');
    });

    it('searches by words when the provider fails, and logs it', async () => {
      await using harness = await openMemoryHarness({ embed: () => Promise.reject(new Error('down')) });
      await harness.say(ANNA, 'Our tabby sleeps all day');
      expect(await harness.ask('tabby')).to.deep.equal(['Our tabby sleeps all day']);
      expect(harness.log.entries.map(({ message }) => message)).to.include(
        'no embeddings were made; words alone decide',
      );
    });
  });

  describe('where', () => {
    it('tells what was said in a channel there alone, unless it is for the guild', async () => {
      await using harness = await openMemoryHarness();
      await harness.say(ANNA, 'The safe is behind the picture', { place: STAFF, visibility: 'channel' });
      await harness.say(ANNA, 'The safe is red', { place: STAFF, visibility: 'guild' });
      expect(await harness.ask('safe')).to.deep.equal(['The safe is red']);
      expect(await harness.ask('safe', { place: STAFF })).to.have.lengthOf(2);
    });

    it('takes nothing out of a direct message, whatever visibility it is given', async () => {
      await using harness = await openMemoryHarness();
      const { memory } = await harness.say(ANNA, 'I am looking for another job', { place: DM, visibility: 'guild' });
      expect(memory?.visibility).to.equal('dm');
      expect(await harness.ask('job', { place: DM })).to.have.lengthOf(1);
      for (const place of [GENERAL, STAFF, ELSEWHERE, { ...DM, channelId: '802' }]) {
        expect(await harness.ask('job', { place })).to.deep.equal([]);
      }
    });

    it('shows, deletes and restores nothing from elsewhere', async () => {
      await using harness = await openMemoryHarness();
      const { memory } = await harness.say(ANNA, 'The safe is red', { place: STAFF, visibility: 'channel' });
      const id = memory?.id ?? '';
      for (const place of [GENERAL, ELSEWHERE, DM, { ...STAFF, mind: 'other' }]) {
        expect(await harness.memories.find(place, id)).to.equal(undefined);
        expect(await harness.memories.remove(place, id)).to.equal(0);
        expect(await harness.memories.retract(place, id)).to.equal(0);
        expect(await harness.memories.setAside(place, id)).to.equal(false);
        expect(await harness.memories.list(place, { all: true })).to.deep.equal([]);
      }
      expect(await harness.standing(STAFF)).to.deep.equal(['The safe is red']);
    });

    it('refuses places that are no ids', async () => {
      await using harness = await openMemoryHarness();
      for (const place of [
        { ...GENERAL, guildId: '../../etc' },
        { ...DM, channelId: 'x' },
        { ...GENERAL, mind: '../up' },
      ]) {
        const refused = await harness.memories.list(place).catch((error: unknown) => error);
        expect(refused).to.be.instanceOf(TypeError);
      }
    });
  });

  it('puts the later of two that fit as well first', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'I drink coffee', { subject: 'drinks' });
    await harness.say(ANNA, 'I drink matcha', { subject: 'drinks' });
    expect(await harness.ask('What does Anna drink?')).to.deep.equal(['I drink matcha', 'I drink coffee']);
  });

  it('follows what is said, changed and deleted after the first question', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'Green tea is fine');
    expect(await harness.ask('tea')).to.have.lengthOf(1);
    harness.clock.advance(HOUR_MS);
    await harness.say(BOB, 'Black tea is better');
    expect(await harness.ask('tea')).to.have.lengthOf(2);
    await harness.memories.messageEdited(refOf('Black tea is better'), 'Black coffee is better', 'Black tea is better');
    expect(await harness.ask('tea')).to.deep.equal(['Green tea is fine']);
    expect(await harness.ask('coffee')).to.deep.equal(['Black coffee is better']);
    await harness.memories.messageDeleted(refOf('Green tea is fine'));
    expect(await harness.ask('tea')).to.deep.equal([]);
  });
});
