import { expect } from 'chai';
import {
  ANNA,
  BOB,
  ELSEWHERE,
  GENERAL,
  type MemoryHarness,
  messageOf,
  openMemoryHarness,
  refOf,
  STAFF,
} from './harness.js';

/** Anna writes where she lives; each statement replaces the previous one. Resolves with the id of the last memory. */
async function moves(harness: MemoryHarness, ...cities: readonly string[]): Promise<string> {
  let id = '';
  for (const city of cities) {
    const { memory } = await harness.say(ANNA, `I live in ${city}`, { supersedes: [id] });
    id = memory?.id ?? '';
  }
  return id;
}

describe('persona: memories of deleted and edited messages', () => {
  it('forgets what was said in a deleted message', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'I live in Bonn');
    await harness.say(BOB, 'I live in Rome');
    expect(await harness.memories.messageDeleted(refOf('I live in Bonn'))).to.equal(1);
    expect(await harness.ask('Who lives in Bonn?')).to.deep.equal(['I live in Rome']);
    await using later = await harness.restart();
    expect(await later.standing()).to.deep.equal(['I live in Rome']);
  });

  it('takes several at once, and does nothing about messages it learned nothing from', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'I live in Bonn');
    await harness.say(BOB, 'I live in Rome');
    const refs = [
      refOf('I live in Bonn'),
      refOf('I live in Rome'),
      refOf('Unheard'),
      refOf('I live in Bonn', ELSEWHERE),
    ];
    expect(await harness.memories.messageDeleted(refs)).to.equal(2);
    expect(await harness.standing()).to.deep.equal([]);
  });

  it('uses the message that still exists when the same was said twice', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'I love pizza');
    await harness.say(ANNA, 'I LOVE pizza!');
    await harness.memories.messageDeleted(refOf('I love pizza'));
    expect(await harness.standing()).to.deep.equal(['I LOVE pizza!']);
    await harness.memories.messageDeleted(refOf('I LOVE pizza!'));
    expect(await harness.standing()).to.deep.equal([]);
  });

  it('restores the earlier fact when the message with the later one is deleted', async () => {
    await using harness = await openMemoryHarness();
    await moves(harness, 'Bonn', 'Rome');
    await harness.memories.messageDeleted(refOf('I live in Rome'));
    expect(await harness.standing()).to.deep.equal(['I live in Bonn']);
  });

  it('does not restore a fact that a third message has replaced', async () => {
    await using harness = await openMemoryHarness();
    await moves(harness, 'Bonn', 'Rome', 'Oslo');
    await harness.memories.messageDeleted(refOf('I live in Rome'));
    expect(await harness.standing()).to.deep.equal(['I live in Oslo']);
    await harness.memories.messageDeleted(refOf('I live in Oslo'));
    expect(await harness.standing()).to.deep.equal(['I live in Bonn']);
  });

  it('never brings back what was itself deleted', async () => {
    await using harness = await openMemoryHarness();
    await moves(harness, 'Bonn', 'Rome');
    await harness.memories.messageDeleted(refOf('I live in Bonn'));
    await harness.memories.messageDeleted(refOf('I live in Rome'));
    expect(await harness.memories.list(GENERAL, { all: true })).to.deep.equal([]);
  });

  it('restores no earlier memory when a member deletes one', async () => {
    await using harness = await openMemoryHarness();
    const last = await moves(harness, 'Bonn', 'Rome');
    expect(await harness.memories.remove(GENERAL, last)).to.equal(2);
    expect(await harness.memories.list(GENERAL, { all: true })).to.deep.equal([]);
  });

  it('puts out of mind and restores, but not past a deletion', async () => {
    await using harness = await openMemoryHarness();
    const { memory } = await harness.say(ANNA, 'I live in Bonn');
    const id = memory?.id ?? '';
    expect(await harness.memories.setAside(GENERAL, id)).to.equal(true);
    expect(await harness.ask('Where does Anna live?')).to.deep.equal([]);
    expect(await harness.memories.restore(GENERAL, id)).to.equal(true);
    expect(await harness.ask('Where does Anna live?')).to.deep.equal(['I live in Bonn']);
    await harness.memories.setAside(GENERAL, id);
    await harness.memories.messageDeleted(refOf('I live in Bonn'));
    expect(await harness.memories.restore(GENERAL, id)).to.equal(false);
  });

  it('learns nothing from a message that was deleted while a mind was still thinking about it', async () => {
    await using harness = await openMemoryHarness();
    await harness.memories.messageDeleted(refOf('I live in Bonn'));
    expect((await harness.say(ANNA, 'I live in Bonn')).outcome).to.equal('refused');
    await harness.memories.messageEdited(refOf('I live in Bonn'), 'I live in Rome');
    expect(await harness.standing()).to.deep.equal([]);
  });

  describe('when it is edited', () => {
    it('has what the message says now, at the time when it was said', async () => {
      await using harness = await openMemoryHarness();
      const { memory } = await harness.say(ANNA, 'I live in Bonn');
      await harness.say(BOB, 'I live in Rome');
      expect(
        await harness.memories.messageEdited(refOf('I live in Bonn'), 'I live in Oslo', 'I live in Bonn'),
      ).to.equal(1);
      const [now] = await harness.memories.list(GENERAL, { about: ANNA });
      expect(now).to.include({
        text: 'I live in Oslo',
        speaker: ANNA,
        at: memory?.at,
        messageId: messageOf('I live in Bonn'),
      });
      expect((await harness.ask('Where does Anna live?'))[0]).to.equal('I live in Oslo');
    });

    it('keeps its place among what was said before and after', async () => {
      await using harness = await openMemoryHarness();
      const last = await moves(harness, 'Bonn', 'Rome', 'Prague');
      await harness.memories.messageEdited(refOf('I live in Rome'), 'I live in Oslo', 'I live in Rome');
      expect(await harness.standing()).to.deep.equal(['I live in Prague']);
      await harness.memories.retract(GENERAL, last);
      expect(await harness.standing()).to.deep.equal(['I live in Oslo']);
    });

    const edits: readonly (readonly [memory: string, before: string, after: string, now: string | undefined])[] = [
      ['Anna lives in Watson.', 'I live in Watsn', 'I live in Watson', 'Anna lives in Watson.'],
      ['Anna lives in Watsn.', 'I live in Watsn', 'I live in Watson', 'Anna lives in Watson.'],
      ['Anna has a sister.', 'i have a sisster', 'I have a sister!', 'Anna has a sister.'],
      ['Anna lives in Watson.', 'I live in Watson', 'I live in Heywood now', 'Anna lives in Heywood now.'],
      ['Anna lives in Watson.', 'I live in Watson', 'I have nothing', undefined],
      ['Anna likes tea.', 'I like tea', 'I do not like tea', undefined],
      ['Anna lives in Bonn.', 'I live in Bonn', 'I used to live in Bonn', undefined],
      ['Anna moved away.', 'I moved out of Bonn', 'I moved into Bonn', undefined],
      ['Anna likes tea.', 'I like tea', 'I like tea. See you!', 'Anna likes tea.'],
      ['Anna mag Tee.', 'Ich mag Tee', 'Ich mag Tee nicht', undefined],
      ['Anna hat den Hund Bello.', 'Ich habe einen Hund, Bello', 'Ich habe keinen Hund, Bello', undefined],
      ['Анна живёт в Твери.', 'Я живу в Твери', 'Я живу в Туле', 'Анна живёт в Туле.'],
      ['Anna was born in 1990.', 'born 1990', 'born 1991', 'Anna was born in 1991.'],
    ];
    for (const [memory, before, after, now] of edits) {
      it(`"${before}" to "${after}" makes "${memory}" ${now === undefined ? 'forgotten' : `"${now}"`}: never the raw text`, async () => {
        await using harness = await openMemoryHarness();
        await harness.say(ANNA, memory);
        expect(await harness.memories.messageEdited(refOf(memory), after, before)).to.equal(1);
        expect(await harness.standing()).to.deep.equal(now === undefined ? [] : [now]);
      });
    }

    it('does nothing about a message it learned nothing from', async () => {
      await using harness = await openMemoryHarness();
      expect(await harness.memories.messageEdited(refOf('Unheard'), 'Heard')).to.equal(0);
      expect(await harness.standing()).to.deep.equal([]);
    });
  });

  it('follows a deleted channel', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'I live in Bonn', { place: STAFF });
    await harness.say(BOB, 'I live in Rome');
    await harness.say(BOB, 'I live in Oslo', { place: ELSEWHERE });
    expect(await harness.memories.channelDeleted('500', STAFF.channelId)).to.equal(1);
    expect(await harness.standing()).to.deep.equal(['I live in Rome']);
    await using later = await harness.restart();
    expect(await later.standing()).to.deep.equal(['I live in Rome']);
    expect(await later.standing(ELSEWHERE)).to.deep.equal(['I live in Oslo']);
  });

  it('clears one mind and leaves the others', async () => {
    await using harness = await openMemoryHarness();
    const other = { ...GENERAL, mind: '601' };
    await harness.say(ANNA, 'I live in Bonn');
    await harness.say(ANNA, 'I live in Rome', { place: other });
    await harness.memories.clear(GENERAL);
    expect(await harness.standing()).to.deep.equal([]);
    expect(await harness.standing(other)).to.deep.equal(['I live in Rome']);
    await harness.memories.messageDeleted(refOf('I live in Rome'));
    expect(await harness.standing(other)).to.deep.equal([]);
  });
});
