import type { DocumentPath, Driver } from '@cinnabar/core';
import { createMemoryDriver } from '@cinnabar/core/testing';
import type { Identity, IdentityGrant } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { identitiesIn, storageOn } from '../storage/fixture.js';

const grant = (more: Partial<IdentityGrant> = {}): IdentityGrant => ({
  guildId: '900',
  userId: '1',
  channelId: '901',
  channels: 'all',
  tools: { read: 'allow' },
  ...more,
});
const agent = (more: Partial<Identity> = {}): Identity => ({
  id: 'relay:900:v',
  plugin: 'relay',
  name: 'V',
  grants: [grant()],
  ...more,
});

const open = (driver: Driver = createMemoryDriver()) =>
  identitiesIn(storageOn(driver), async (_guildId, plugin) => plugin === 'relay');

/** A driver whose next write waits until the test releases it. */
function slowDriver() {
  const driver = createMemoryDriver();
  let held: Promise<void> | undefined;
  let goOn: () => void = () => undefined;
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  return {
    ...driver,
    async write(path: DocumentPath, stored: Parameters<Driver['write']>[1]) {
      const wait = held;
      held = undefined;
      if (wait !== undefined) begin();
      await wait;
      return driver.write(path, stored);
    },
    hold() {
      held = new Promise((resolve) => {
        goOn = resolve;
      });
    },
    begun,
    goOn: () => goOn(),
  };
}

describe('identities', () => {
  it('are stored, and listed where they have a grant', async () => {
    const driver = createMemoryDriver();
    const abroad = agent({ id: 'relay:777:w', grants: [grant({ guildId: '777' }), grant({ guildId: null })] });
    await open(driver).save(agent());
    await open(driver).save(abroad);
    const room = open(driver);
    expect(await room.get('relay:900:v')).to.deep.equal(agent());
    expect(await room.list('900')).to.deep.equal([agent()]);
    expect(await room.list(null)).to.deep.equal([abroad]);
    expect(await room.get('relay:900:x')).to.equal(undefined);
  });

  it('have ids that fit a file, belong to one plugin, and have one grant for a guild', async () => {
    const room = open();
    for (const id of ['', 'Relay', '../x', 'a b', 'a'.repeat(101)]) {
      await failure('CINNABAR_NAME_INVALID', () => room.save(agent({ id })));
    }
    await room.save(agent());
    await failure('CINNABAR_NAME_TAKEN', () => room.save(agent({ plugin: 'persona' })));
    const twice = agent({ grants: [grant(), grant({ userId: '2' })] });
    await failure('CINNABAR_DOCUMENT_INVALID', () => room.save(twice));
    expect(await room.get('relay:900:v')).to.deep.equal(agent());
  });

  it('belong to one plugin also when two ask at once', async () => {
    const room = open();
    const saved = await Promise.allSettled([room.save(agent()), room.save(agent({ plugin: 'persona' }))]);
    expect(saved.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected']);
    expect(await room.get('relay:900:v')).to.deep.equal(agent());
  });

  it('hold only once they are written', async () => {
    const driver = createMemoryDriver();
    const room = open(driver);
    await room.save(agent());
    driver.failWrites(new Error('disk full'));
    await failure('CINNABAR_STORAGE_WRITE', () => room.save(agent({ grants: [] })));
    expect(await room.get('relay:900:v')).to.deep.equal(agent());
  });

  it('do not change by what is done to those that were handed out', async () => {
    const room = open();
    await room.save(agent());
    for (const one of [await room.get('relay:900:v'), ...(await room.list('900'))]) {
      Object.assign(one?.grants[0]?.tools ?? {}, { ban: 'allow' });
    }
    expect(await room.get('relay:900:v')).to.deep.equal(agent());
  });

  it('are gone at once when they are removed, even if that cannot be written', async () => {
    const driver = createMemoryDriver();
    const room = open(driver);
    await room.save(agent());
    driver.failWrites(new Error('disk full'));
    await failure('CINNABAR_STORAGE_WRITE', () => room.remove('relay:900:v'));
    expect(await room.get('relay:900:v')).to.equal(undefined);
  });

  it('do not come back by a change that was being written when they were removed', async () => {
    const driver = slowDriver();
    const room = open(driver);
    await room.save(agent());
    driver.hold();
    const saving = room.save(agent({ name: 'Vee' }));
    await driver.begun;
    const removing = room.remove('relay:900:v');
    driver.goOn();
    await Promise.all([saving, removing]);
    expect(await room.get('relay:900:v')).to.equal(undefined);
    expect(await open(driver).get('relay:900:v')).to.equal(undefined);
  });
});

describe('the grants that a user gave', () => {
  const shared = agent({ grants: [grant(), grant({ guildId: '777', userId: '2' })] });

  it('are shown to them, and end with the deletion of their data, as does an agent without another grant', async () => {
    const driver = createMemoryDriver();
    const room = open(driver);
    const theirs = agent({ id: 'relay:dm:1', grants: [grant({ guildId: null })] });
    await room.save(shared);
    await room.save(theirs);
    expect(await room.personalData.export('1')).to.deep.equal([shared, theirs]);
    expect(await room.personalData.export('3')).to.deep.equal([]);
    await room.personalData.forget('1');
    for (const now of [room, open(driver)]) {
      expect((await now.get(shared.id))?.grants).to.deep.equal([grant({ guildId: '777', userId: '2' })]);
      expect(await now.get(theirs.id)).to.equal(undefined);
    }
  });

  it('do not give back, when they go, what was taken from the agent meanwhile', async () => {
    const driver = slowDriver();
    const room = open(driver);
    await room.save(shared);
    driver.hold();
    const narrow = grant({ guildId: '777', userId: '2', channels: ['778'] });
    const narrowing = room.save({ ...shared, grants: [grant(), narrow] });
    await driver.begun;
    const forgetting = room.personalData.forget('1');
    driver.goOn();
    await Promise.all([narrowing, forgetting]);
    expect((await room.get(shared.id))?.grants).to.deep.equal([narrow]);
  });
});
