import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { ANNA, BOB, DM, ELSEWHERE, filesIn, GENERAL, openMemoryHarness, STAFF } from './harness.js';

const BOBS_DM = { ...DM, channelId: '802' };
/** Anna can read all channels except the staff's, and only her own direct messages. */
const mayRead = async ({ channelId }: { channelId?: string }) =>
  channelId !== STAFF.channelId && channelId !== BOBS_DM.channelId;

describe('persona: a member’s own memories', () => {
  it('are exported wherever they are: what they said and what is about them', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'I live in Bonn');
    await harness.say(BOB, 'Anna sings', { place: STAFF, visibility: 'channel' });
    await harness.say(ANNA, 'I am ill', { place: DM });
    await harness.say(BOB, 'I live in Rome', { place: ELSEWHERE });
    const exported = await harness.memories.personalData.export(ANNA, mayRead);
    expect(exported).to.be.an('array').with.lengthOf(3);
    expect(JSON.stringify(exported)).to.include('Bonn').and.include('ill').and.not.include('Rome');
  });

  it('are exported without what others have said of them where they cannot read now: that there is something, not what', async () => {
    await using harness = await openMemoryHarness();
    const { memory: open } = await harness.say(BOB, 'Anna sings');
    const { memory: closed } = await harness.say(BOB, 'Anna snores', { place: STAFF, visibility: 'channel' });
    await harness.say(BOB, 'Anna is late again', { place: BOBS_DM });
    await harness.memories.reflect(STAFF, [
      { text: 'Anna is a nuisance', evidence: [open?.id ?? '', closed?.id ?? ''] },
    ]);
    const exported = await harness.memories.personalData.export(ANNA, mayRead);
    expect(exported).to.be.an('array').with.lengthOf(4);
    expect(JSON.stringify(exported))
      .to.include('sings')
      .and.not.match(/snores|late|nuisance/);
    await harness.memories.personalData.forget(ANNA);
    expect(await harness.standing(STAFF)).to.deep.equal([]);
  });

  it('are exported without what was open to everyone when it was said and is not open to them now', async () => {
    await using harness = await openMemoryHarness();
    const { memory } = await harness.say(BOB, 'Anna dances', { place: STAFF, visibility: 'guild' });
    await harness.memories.reflect(GENERAL, [{ text: 'Anna is happy', subject: ANNA, evidence: [memory?.id ?? ''] }]);
    const exported = await harness.memories.personalData.export(ANNA, mayRead);
    expect(exported).to.be.an('array').with.lengthOf(2);
    expect(JSON.stringify(exported)).not.to.match(/dances|happy/);
  });

  it('are gone after forgetting, from the files too, and what rests on them with them', async () => {
    await using harness = await openMemoryHarness();
    const { memory } = await harness.say(ANNA, 'I live in Bonn');
    await harness.say(ANNA, 'I live in Oslo');
    await harness.say(BOB, 'Anna sings in the shower');
    await harness.say(BOB, 'Lunch with <@1001> was loud', { subject: 'lunch' });
    await harness.say(BOB, 'I live in Rome');
    await harness.say(ANNA, 'I am ill', { place: DM });
    await harness.memories.reflect(GENERAL, [
      { text: 'Somebody travels', subject: 'travel', evidence: [memory?.id ?? ''] },
    ]);
    await harness.memories.personalData.forget(ANNA);
    expect(await harness.standing()).to.deep.equal(['I live in Rome']);
    expect(await harness.memories.personalData.export(ANNA, mayRead)).to.deep.equal([]);
    for (const file of filesIn(harness.folder)) {
      expect(readFileSync(file, 'utf8')).not.to.match(/Bonn|Oslo|shower|loud|travels|ill|1001|Anna/);
    }
    expect(await harness.ask('Where does Anna live?')).not.to.include('I live in Bonn');
  });

  it('are gone from copies of damaged files as well', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'I live in Bonn');
    await harness.say(BOB, 'I live in Rome');
    await harness.memories.close();
    const [file = ''] = filesIn(harness.folder);
    writeFileSync(file, `damaged\n${readFileSync(file, 'utf8')}`);
    await using later = await harness.restart(false);
    expect(await later.standing()).to.have.lengthOf(2);
    expect(filesIn(later.folder)).to.have.lengthOf(2);
    await later.memories.personalData.forget(ANNA);
    expect(filesIn(later.folder)).to.have.lengthOf(1);
  });
});
