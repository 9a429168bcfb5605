import { operatorSentenceOf, sentenceOf, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { memoryStorage, type Problem } from './fixture.js';

const PATH = ['party', 'collections', 'user', 'rosters', '42'];
const rosters = { scope: 'user', version: 1, schema: z.object({ names: z.array(z.string()).default([]) }) } as const;

function given() {
  const problems: Problem[] = [];
  const memory = memoryStorage({ onProblem: (problem) => problems.push(problem) });
  /** Simulates a restart, with an empty cache. */
  const restarted = () => {
    const again = memoryStorage({ driver: memory.driver, onProblem: (problem) => problems.push(problem) });
    return { ...again, rosters: again.open({ collections: { rosters } }).collections.rosters };
  };
  return { ...memory, problems, restarted, rosters: memory.open({ collections: { rosters } }).collections.rosters };
}

describe('a damaged document', () => {
  it('is put aside, the last good copy is used, and the owner is notified', async () => {
    const { rosters, driver, problems, restarted } = given();
    await rosters.of('42').set({ names: ['V'] });
    driver.damage(PATH, '{"version":1,"da');
    const { rosters: later, log } = restarted();
    expect(await later.of('42').get()).to.deep.equal({ names: ['V'] });
    expect(driver.aside(PATH)).to.deep.equal(['{"version":1,"da']);
    expect(problems).to.have.length(1);
    expect(problems[0]?.document).to.equal('party/collections/user/rosters/42');
    expect(problems[0]?.keptAs).to.be.a('string');
    expect(log.entries.map(({ level }) => level)).to.deep.equal(['warn']);
  });

  it('reads as never saved when there is no good copy', async () => {
    const { driver, problems, restarted } = given();
    driver.damage(PATH, 'nonsense', { lastGood: true });
    const { rosters } = restarted();
    expect(await rosters.of('42').find()).to.equal(undefined);
    expect(await rosters.of('42').set({ names: ['V'] })).to.deep.equal({ names: ['V'] });
    expect(driver.aside(PATH)).to.deep.equal(['nonsense']);
    expect(problems).to.have.length(1);
  });

  it('is put aside once, however many ask for it at the same time', async () => {
    const { driver, problems, restarted } = given();
    driver.damage(PATH, 'nonsense');
    const { rosters } = restarted();
    await Promise.all([rosters.of('42').get(), rosters.of('42').get(), rosters.of('42').update(() => undefined)]);
    expect(problems).to.have.length(1);
  });

  it('does not keep the other entries from being read', async () => {
    const { rosters, driver, restarted } = given();
    await rosters.of('1').set({ names: ['V'] });
    driver.damage(PATH, 'nonsense');
    const keys: string[] = [];
    for await (const [key] of restarted().rosters.entries()) keys.push(key);
    expect(keys).to.deep.equal(['1']);
  });
});

describe('a document that does not fit its schema', () => {
  it('is put aside like a damaged one, with what is wrong', async () => {
    const { rosters, driver, problems, restarted } = given();
    await rosters.of('42').set({ names: ['V'] });
    driver.damage(PATH, '{"version":1,"data":{"names":"V"}}');
    expect(await restarted().rosters.of('42').get()).to.deep.equal({ names: ['V'] });
    expect(problems[0]?.detail).to.match(
      /^names: .*If the plugin's schema of it has changed: raise the collection's version to 2, and add migrations\[2\]$/,
    );
    expect(driver.aside(PATH)).to.have.length(1);
  });

  it('falls back to the defaults for settings', async () => {
    const { driver, open, problems } = given();
    driver.damage(['party', 'settings', 'guild', '1'], '{"version":1,"data":{"depth":"deep"}}');
    const { settings } = open({ settings: { guild: z.object({ depth: z.number().default(5) }) } });
    expect(await settings.guild('1').get()).to.deep.equal({ depth: 5 });
    expect(problems).to.have.length(1);
  });
});

describe('a document of a newer version', () => {
  it('is not touched, whatever is asked', async () => {
    const { driver, restarted } = given();
    const text = '{"version":3,"data":{"shape":"unknown"}}';
    driver.damage(PATH, text);
    const { rosters } = restarted();
    const document = rosters.of('42');
    const error = await failure('CINNABAR_DOCUMENT_NEWER', () => document.get());
    expect(error.params).to.include({ found: 3, known: 1, document: 'party/collections/user/rosters/42' });
    await failure('CINNABAR_DOCUMENT_NEWER', () => document.find());
    await failure('CINNABAR_DOCUMENT_NEWER', () => document.set({ names: [] }));
    await failure('CINNABAR_DOCUMENT_NEWER', () => document.update(() => undefined));
    await failure('CINNABAR_DOCUMENT_NEWER', () => document.delete());
    expect(await driver.read(PATH)).to.deep.equal(JSON.parse(text));
    expect(driver.aside(PATH)).to.deep.equal([]);
  });
});

describe('a medium that cannot be read', () => {
  it('and does not put aside what is damaged ends in an error, not in an endless loop', async () => {
    const { driver } = given();
    for (const text of ['nonsense', '{"version":1,"data":{"names":"V"}}']) {
      driver.damage(PATH, text);
      const { open, log } = memoryStorage({ driver: { ...driver, setAside: async () => 'nowhere' } });
      const document = open({ collections: { rosters } }).collections.rosters.of('42');
      await failure('CINNABAR_DOCUMENT_INVALID', () => document.get());
      expect(log.entries).to.have.length(3);
    }
  });

  it('fails with a sentence instead of passing for an empty document', async () => {
    const { driver } = given();
    const broken = { ...driver, read: () => Promise.reject(new Error('EIO: i/o error')) };
    const { open } = memoryStorage({ driver: broken });
    const document = open({ collections: { rosters } }).collections.rosters.of('42');
    const error = await failure('CINNABAR_STORAGE_READ', () => document.get());
    expect(sentenceOf(error), 'for members').to.equal('I cannot read what I have stored at the moment.');
    expect(operatorSentenceOf(error), 'for the owner').to.contain('rosters/42').and.to.contain('EIO');
    await failure('CINNABAR_STORAGE_READ', () => document.set({ names: [] }));
  });
});
