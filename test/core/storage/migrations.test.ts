import { z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { memoryStorage } from './fixture.js';

const PATH = ['party', 'collections', 'user', 'rosters', '42'];
const first = { scope: 'user', version: 1, schema: z.object({ name: z.string().default('') }) } as const;
const third = {
  scope: 'user',
  version: 3,
  schema: z.object({ names: z.array(z.string()), size: z.number() }),
  migrations: {
    2: (old: unknown) => ({ names: [z.object({ name: z.string() }).parse(old).name] }),
    3: (old: unknown) => {
      const { names } = z.object({ names: z.array(z.string()) }).parse(old);
      return { names, size: names.length };
    },
  },
} as const;

async function givenAFirstVersion() {
  const memory = memoryStorage();
  await memory
    .open({ collections: { rosters: first } })
    .collections.rosters.of('42')
    .set({ name: 'V' });
  return memory;
}

describe('a migration', () => {
  it('takes a document step by step to the present version', async () => {
    const { open } = await givenAFirstVersion();
    const { rosters } = open({ collections: { rosters: third } }).collections;
    expect(await rosters.of('42').get()).to.deep.equal({ names: ['V'], size: 1 });
  });

  it('is saved with the next change, and what was there before is kept', async () => {
    const { open, driver } = await givenAFirstVersion();
    const { rosters } = open({ collections: { rosters: third } }).collections;
    await rosters.of('42').get();
    expect((await driver.read(PATH))?.version, 'reading writes nothing').to.equal(1);
    await rosters.of('42').update((draft) => draft.names.push('Judy'));
    expect(await driver.read(PATH)).to.deep.equal({ version: 3, data: { names: ['V', 'Judy'], size: 1 } });
    expect(driver.aside(PATH).map((text) => JSON.parse(text))).to.deep.equal([{ version: 1, data: { name: 'V' } }]);
  });

  it('leaves the old version usable when a reload fails half-way', async () => {
    const { open } = await givenAFirstVersion();
    await open({ collections: { rosters: third } })
      .collections.rosters.of('42')
      .get();
    expect(
      await open({ collections: { rosters: first } })
        .collections.rosters.of('42')
        .get(),
    ).to.deep.equal({ name: 'V' });
  });

  it('without a step changed nothing that defaults do not cover', async () => {
    const { open } = await givenAFirstVersion();
    const second = {
      scope: 'user',
      version: 2,
      schema: z.object({ name: z.string(), role: z.string().default('Solo') }),
    } as const;
    const { rosters } = open({ collections: { rosters: second } }).collections;
    expect(await rosters.of('42').get()).to.deep.equal({ name: 'V', role: 'Solo' });
  });

  it('that fails is a defect of the plugin: the document stays where it is', async () => {
    const { open, driver } = await givenAFirstVersion();
    const broken = {
      ...third,
      migrations: {
        2: () => {
          throw new Error('not today');
        },
      },
    };
    const useless = { ...third, migrations: { 2: () => ({}), 3: () => ({}) } };
    for (const [definition, part] of [
      [broken, 'version 2 failed (not today)'],
      [useless, 'after its migration from version 1'],
    ] as const) {
      const { rosters } = open({ collections: { rosters: definition } }).collections;
      const error = await failure('CINNABAR_DOCUMENT_INVALID', () => rosters.of('42').get());
      expect(error.message).to.contain(part);
      await failure('CINNABAR_DOCUMENT_INVALID', () => rosters.of('42').set({ names: [], size: 0 }));
    }
    expect((await driver.read(PATH))?.data).to.deep.equal({ name: 'V' });
    expect(driver.aside(PATH)).to.deep.equal([]);
  });

  it('cannot change what is stored by changing what it is given', async () => {
    const { open } = await givenAFirstVersion();
    const grabbing = {
      ...third,
      migrations: {
        2: (old: unknown) => {
          if (typeof old === 'object' && old !== null) Reflect.set(old, 'name', 'taken');
          return { names: [], size: 0 };
        },
      },
    };
    await open({ collections: { rosters: grabbing } })
      .collections.rosters.of('42')
      .get();
    expect(
      await open({ collections: { rosters: first } })
        .collections.rosters.of('42')
        .get(),
    ).to.deep.equal({ name: 'V' });
  });
});
