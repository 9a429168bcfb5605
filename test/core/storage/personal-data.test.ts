import { readdir } from 'node:fs/promises';
import { createFileDriver } from '@cinnabar/core';
import { z } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { recordingLogger } from '../../support/logs.js';
import { memoryStorage, opener, storageOn, temporaryFolder } from './fixture.js';

const text = z.object({ text: z.string().default('') });
const collections = {
  notes: { scope: 'user', version: 1, schema: text },
  nicks: { scope: 'member', version: 1, schema: text },
  pages: { scope: 'guild', version: 1, schema: text },
  misc: { scope: 'global', version: 1, schema: text },
} as const;
const settings = {
  user: z.object({ lang: z.string().default('en'), key: z.string().optional().meta({ secret: true }) }),
  member: z.object({ colour: z.string().default('red') }),
};

/** Data of two users in two plugins, with keys that only resemble theirs. */
async function fill(open: ReturnType<typeof opener>['open']) {
  for (const id of ['diary', 'party']) {
    const of = open({ id, collections, settings });
    for (const userId of ['42', '43']) {
      await of.collections.notes.of(userId).set({ text: `note of ${userId}` });
      for (const guildId of ['7', '8'])
        await of.collections.nicks.of({ guildId, userId }).set({ text: `${userId} in ${guildId}` });
      await of.settings.user(userId).set({ lang: 'de', key: 'hunter2' });
      await of.settings.member({ guildId: '7', userId }).set({ colour: 'blue' });
    }
    await of.collections.pages.of('42').set({ text: 'a guild of the same number' });
    await of.collections.misc.of('42').set({ text: 'a key of the same number' });
  }
}

describe('stored data about a person', () => {
  it('is exported by plugin and collection, secrets left out', async () => {
    const { open, storage } = memoryStorage();
    await fill(open);
    const one = {
      collections: {
        notes: { text: 'note of 42' },
        nicks: { '7': { text: '42 in 7' }, '8': { text: '42 in 8' } },
      },
      settings: { user: { lang: 'de', key: '(set)' }, member: { '7': { colour: 'blue' } } },
    };
    expect(await storage.exportUser('42')).to.deep.equal({ diary: one, party: one });
    expect(await storage.exportUser('44')).to.deep.equal({});
  });

  it('is deleted, also for plugins that are not running, without affecting other people', async () => {
    const { open, driver } = memoryStorage();
    await fill(open);
    const before = (await driver.list([])).length;
    const { storage } = memoryStorage({ driver });
    expect(await storage.forgetUser('42')).to.equal(10);
    expect(await storage.exportUser('42')).to.deep.equal({});
    expect((await driver.list([])).length).to.equal(before - 10);
    expect(Object.keys(await storage.exportUser('43'))).to.deep.equal(['diary', 'party']);
  });

  it('is gone for plugins that had it open, and may be written anew', async () => {
    const { open, storage } = memoryStorage();
    await fill(open);
    const { notes } = open({ id: 'party', collections }).collections;
    await notes.of('42').get();
    await storage.forgetUser('42');
    expect(await notes.of('42').find()).to.equal(undefined);
    expect(await notes.of('42').set({ text: 'back' })).to.deep.equal({ text: 'back' });
  });

  it('waits for a change under way instead of letting it come back', async () => {
    const { open, storage } = memoryStorage();
    const { notes } = open({ collections }).collections;
    await notes.of('42').set({ text: 'one' });
    const change = notes.of('42').update(async (draft) => {
      await Promise.resolve();
      draft.text = 'two';
    });
    await storage.forgetUser('42');
    await change;
    expect(await notes.of('42').find()).to.equal(undefined);
  });

  it('leaves no file behind: no last good copy, nothing put aside, nothing from before a migration', async () => {
    using folder = temporaryFolder();
    const driver = createFileDriver({
      root: folder.path,
      journals: folder.path,
      clock: createManualClock(),
      log: recordingLogger(),
    });
    const storage = storageOn(driver);
    await fill(opener(storage).open);
    const path = ['party', 'collections', 'user', 'notes', '42'];
    await driver.keep(path, 'v1');
    await driver.setAside(path);
    await storage.forgetUser('42');
    const files = await readdir(folder.path, { recursive: true });
    expect(files.filter((name) => /(?:user\/.*|%3a)42\./.test(name))).to.deep.equal([]);
    expect(files.filter((name) => /(?:user\/.*|%3a)43\./.test(name))).to.have.length(20);
  });

  it('is what collections declare: documents, elements of a list, what stays of others, what is shown', async () => {
    const { open, storage, driver } = memoryStorage();
    const entry = z.object({ text: z.string(), by: z.object({ id: z.string() }).optional() });
    const shared = {
      cards: { scope: 'global', version: 1, schema: z.object({ userId: z.string() }), personal: { by: 'userId' } },
      logs: {
        scope: 'channel',
        version: 1,
        schema: z.object({ lines: z.array(entry).default([]) }),
        personal: { each: 'lines', by: 'by.id' },
      },
      names: {
        scope: 'guild',
        version: 1,
        schema: z.object({ names: z.record(z.string(), z.string()) }),
        personal: {
          by: ({ names }: { names: Record<string, string> }) => Object.keys(names),
          export: ({ names }: { names: Record<string, string> }, userId: string) => names[userId],
          forget: ({ names }: { names: Record<string, string> }, userId: string) => delete names[userId],
        },
      },
    } as const;
    const { cards, logs, names } = open({ id: 'board', collections: shared }).collections;
    await cards.of('a').set({ userId: '42' });
    await driver.keep(['board', 'collections', 'global', 'cards', 'a'], 'v1');
    await cards.of('b').set({ userId: '43' });
    const others = [{ text: 'theirs', by: { id: '43' } }, { text: 'unsigned' }];
    await logs.of('9').set({ lines: [{ text: 'mine', by: { id: '42' } }, ...others] });
    await names.of('7').set({ names: { '42': 'Anna', '43': 'Bob' } });

    expect(await storage.exportUser('42')).to.deep.equal({
      board: {
        collections: {
          cards: { a: { userId: '42' } },
          logs: { '9': [{ text: 'mine', by: { id: '42' } }] },
          names: { '7': 'Anna' },
        },
      },
    });
    expect(await storage.forgetUser('42')).to.equal(1);
    expect(await storage.exportUser('42')).to.deep.equal({});
    expect(await logs.of('9').get()).to.deep.equal({ lines: others });
    expect(await names.of('7').get()).to.deep.equal({ names: { '43': 'Bob' } });
    expect(await driver.list(['board', 'collections', 'global'])).to.deep.equal([
      ['board', 'collections', 'global', 'cards', 'b'],
    ]);
  });

  it('goes as far as it can when something cannot be written', async () => {
    const { open, storage, driver } = memoryStorage();
    const shared = {
      cards: { scope: 'global', version: 1, schema: z.object({ userId: z.string() }), personal: { by: 'userId' } },
    } as const;
    const { cards } = open({ id: 'board', collections: shared }).collections;
    const { notes } = open({ id: 'party', collections }).collections;
    await cards.of('a').set({ userId: '42' });
    await notes.of('42').set({ text: 'mine' });
    driver.failWrites(new Error('no room'), 1, ['party', 'collections', 'user', 'notes', '42']);
    const error: unknown = await storage.forgetUser('42').catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', 'CINNABAR_STORAGE_WRITE');
    expect(Object.keys(await storage.exportUser('42'))).to.deep.equal(['party']);
  });

  it('is not declared by a field that the documents do not have', () => {
    const schema = z.object({ userId: z.string(), lines: z.array(z.object({ by: z.string() })).default([]) });
    for (const personal of [{ by: 'user' }, { each: 'line', by: 'by' }, { each: 'lines', by: 'userId' }]) {
      const { open } = memoryStorage();
      const misdeclared = { cards: { scope: 'global', version: 1, schema, personal } } as const;
      expect(() => open({ id: 'board', collections: misdeclared })).to.throw(/its collection "cards"/);
    }
  });
});
