import { createMemoryDriver } from '@cinnabar/core/testing';
import { operatorSentenceOf, sentenceOf, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { memoryStorage } from './fixture.js';

const definition = {
  scope: 'user',
  version: 1,
  schema: z.object({ count: z.number().int().default(0), names: z.array(z.string()).default([]) }),
} as const;

function given(options: Parameters<typeof memoryStorage>[0] = {}) {
  const memory = memoryStorage(options);
  return { ...memory, visits: memory.open({ collections: { visits: definition } }).collections.visits };
}

describe('a document', () => {
  it('is not found before it is saved, but reads as its defaults', async () => {
    const { visits } = given();
    expect(await visits.of('42').find()).to.equal(undefined);
    expect(await visits.of('42').get()).to.deep.equal({ count: 0, names: [] });
  });

  it('without defaults is missing', async () => {
    const { open } = memoryStorage();
    const { notes } = open({
      collections: { notes: { scope: 'guild', version: 1, schema: z.object({ text: z.string() }) } },
    }).collections;
    const error = await failure('CINNABAR_DOCUMENT_MISSING', () => notes.of('1').get());
    expect(error.message).to.contain('party/collections/guild/notes/1');
    await failure('CINNABAR_DOCUMENT_MISSING', () => notes.of('1').update(() => undefined));
  });

  it('is what was set, under the id of anything that has one', async () => {
    const { visits } = given();
    expect(await visits.of({ id: '42' }).set({ count: 2, names: ['V'] })).to.deep.equal({ count: 2, names: ['V'] });
    expect(await visits.of('42').find()).to.deep.equal({ count: 2, names: ['V'] });
  });

  it('of a member is known by the guild and the user, of a channel by the channel alone', async () => {
    const { open } = memoryStorage();
    const schema = z.object({ n: z.number().default(0) });
    const { byMember, byChannel } = open({
      collections: {
        byMember: { scope: 'member', version: 1, schema },
        byChannel: { scope: 'channel', version: 1, schema },
      },
    }).collections;
    await byMember.of({ id: '42', guild: { id: '7' } }).set({ n: 1 });
    expect(await byMember.of({ userId: '42', guildId: '7' }).find()).to.deep.equal({ n: 1 });
    expect(await byMember.of({ userId: '42', guildId: '8' }).find()).to.equal(undefined);
    const channel = { id: '5', guild: { id: '7' } };
    await byChannel.of(channel).set({ n: 2 });
    expect(await byChannel.of('5').find()).to.deep.equal({ n: 2 });
  });

  it('merges defaults that came later when it is read', async () => {
    const { visits, driver } = given();
    driver.damage(['party', 'collections', 'user', 'visits', '42'], '{"version":1,"data":{"count":3}}');
    expect(await visits.of('42').get()).to.deep.equal({ count: 3, names: [] });
  });

  it('is validated before it is saved', async () => {
    const { visits, driver } = given();
    await visits.of('42').set({ count: 1, names: [] });
    const error = await failure('CINNABAR_DOCUMENT_INVALID', () => visits.of('42').set({ count: 1.5, names: [] }));
    expect(error.message).to.contain('count');
    await failure('CINNABAR_DOCUMENT_INVALID', () =>
      visits.of('42').update((draft) => {
        draft.count = Number.NaN;
      }),
    );
    expect(await visits.of('42').get()).to.deep.equal({ count: 1, names: [] });
    expect(driver.writes).to.equal(1);
  });

  it('gives nothing away that could change it', async () => {
    const { visits } = given();
    const value = { count: 1, names: ['V'] };
    const saved = await visits.of('42').set(value);
    value.names.push('a');
    saved.names.push('b');
    (await visits.of('42').get()).names.push('c');
    let escaped: { names: string[] } | undefined;
    await visits.of('42').update((draft) => {
      escaped = draft;
    });
    escaped?.names.push('d');
    expect(await visits.of('42').get()).to.deep.equal({ count: 1, names: ['V'] });
  });

  it('never lets its schema defaults be changed through a draft', async () => {
    const { visits } = given();
    await visits.of('1').update((draft) => draft.names.push('V'));
    expect(await visits.of('2').get()).to.deep.equal({ count: 0, names: [] });
  });

  it('reads as the disk has it, also for what JSON changes', async () => {
    const { open, storage, driver } = memoryStorage();
    const declared = {
      collections: { dates: { scope: 'user', version: 1, schema: z.object({ at: z.coerce.date() }) } },
    } as const;
    const { dates } = open(declared).collections;
    const at = new Date(0);
    expect(await dates.of('1').set({ at })).to.deep.equal({ at });
    await storage.flush();
    expect(await driver.read(['party', 'collections', 'user', 'dates', '1'])).to.deep.equal({
      version: 1,
      data: { at: at.toISOString() },
    });
  });

  it('is gone when it is deleted', async () => {
    const { visits } = given();
    await visits.of('42').set({ count: 1, names: [] });
    await visits.of('42').delete();
    expect(await visits.of('42').find()).to.equal(undefined);
  });

  it('is not written again when an update changes nothing', async () => {
    const { visits, driver } = given();
    await visits.of('42').set({ count: 1, names: [] });
    await visits.of('42').update(() => undefined);
    expect(driver.writes).to.equal(1);
  });

  it('cannot have a key that no file system takes', async () => {
    const { visits } = given();
    for (const key of ['', 'x'.repeat(513), '\ud800']) {
      await failure('CINNABAR_NAME_INVALID', () => visits.of(key));
    }
  });
});

describe('a failed change', () => {
  it('leaves the document alone when the body of an update throws', async () => {
    const { visits, driver } = given();
    await visits.of('42').set({ count: 1, names: [] });
    const thrown: unknown = await visits
      .of('42')
      .update(async (draft) => {
        draft.count = 2;
        await Promise.resolve();
        throw new RangeError('too far');
      })
      .catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(RangeError);
    expect(await visits.of('42').get()).to.deep.equal({ count: 1, names: [] });
    expect(driver.writes).to.equal(1);
  });

  type Visits = ReturnType<ReturnType<typeof given>['visits']['of']>;
  const changes: Readonly<Record<string, (document: Visits) => Promise<unknown>>> = {
    set: (document) => document.set({ count: 9, names: [] }),
    update: (document) => document.update((draft) => draft.names.push('Judy')),
    delete: (document) => document.delete(),
  };
  for (const [what, change] of Object.entries(changes)) {
    it(`leaves the old value visible when the disk refuses a ${what}`, async () => {
      const { visits, driver } = given();
      await visits.of('42').set({ count: 1, names: [] });
      driver.failWrites(new Error('no space left'));
      const error = await failure('CINNABAR_STORAGE_WRITE', () => change(visits.of('42')));
      expect(sentenceOf(error), 'for members').to.equal('I cannot save anything at the moment.');
      expect(operatorSentenceOf(error), 'for the owner').to.contain('no space left').and.to.contain('visits');
      expect(await visits.of('42').find()).to.deep.equal({ count: 1, names: [] });
      await visits.of('42').update((draft) => draft.names.push('V'));
      expect(await visits.of('42').find()).to.deep.equal({ count: 1, names: ['V'] });
    });
  }

  it('shows what the disk holds after a write that was carried out and then failed', async () => {
    const driver = createMemoryDriver();
    const write = async (...args: Parameters<typeof driver.write>) => {
      await driver.write(...args);
      if (driver.writes > 1) throw new Error('the folder cannot be synced');
    };
    const { visits } = given({ driver: { ...driver, write } });
    await visits.of('42').set({ count: 1, names: [] });
    await failure('CINNABAR_STORAGE_WRITE', () => visits.of('42').update((draft) => void draft.names.push('V')));
    expect(await visits.of('42').find()).to.deep.equal({ count: 1, names: ['V'] });
  });

  it('says so when an update changes the same document from inside, instead of waiting for itself', async () => {
    const { visits } = given();
    await failure('CINNABAR_DOCUMENT_NESTED', () =>
      visits.of('42').update(() => visits.of('42').set({ count: 1, names: [] })),
    );
    await visits.of('42').update(() => visits.of('43').set({ count: 1, names: [] }));
    expect(await visits.of('43').get()).to.deep.equal({ count: 1, names: [] });
  });
});

describe('the entries of a collection', () => {
  it('are the saved documents with their keys', async () => {
    const { visits } = given();
    await visits.of('1').set({ count: 1, names: [] });
    await visits.of('a/b').set({ count: 2, names: [] });
    await visits.of('3').set({ count: 3, names: [] });
    await visits.of('3').delete();
    const found: [string, number][] = [];
    for await (const [key, { count }] of visits.entries()) found.push([key, count]);
    expect(found).to.have.deep.members([
      ['1', 1],
      ['a/b', 2],
    ]);
  });

  it('belong to their collection and plugin alone', async () => {
    const { visits, open } = given();
    const other = open({ id: 'other', collections: { visits: definition } }).collections.visits;
    await other.of('1').set({ count: 1, names: [] });
    const keys: string[] = [];
    for await (const [key] of visits.entries()) keys.push(key);
    expect(keys).to.deep.equal([]);
  });
});

describe('the documents in memory', () => {
  /** Number of the driver's reads when this number of documents of this length is read in order, twice. */
  async function readsOf(count: number, characters: number): Promise<number> {
    const driver = createMemoryDriver();
    let reads = 0;
    const read = (...args: Parameters<typeof driver.read>) => {
      reads += 1;
      return driver.read(...args);
    };
    const { visits } = given({ driver: { ...driver, read } });
    const keys = Array.from({ length: count }, (_, at) => String(at));
    for (const key of keys) {
      const stored = { version: 1, data: { count: 1, names: ['x'.repeat(characters)] } };
      await driver.write(['party', 'collections', 'user', 'visits', key], stored);
    }
    for (const key of [...keys, ...keys]) await visits.of(key).get();
    return reads;
  }

  it('are bounded by what they take, not by their number', async () => {
    expect(await readsOf(3_000, 10), 'many that are short').to.equal(3_000);
    expect(await readsOf(50, 100_000), 'few that are long').to.equal(100);
  });
});
