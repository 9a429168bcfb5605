import { z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../../support/codes.js';
import { memoryStorage, storingPlugin } from '../fixture.js';
import { ADMIN, givenCatalog, inPrivate, MEMBER, OWNER } from './given.js';

describe('the settings catalog', () => {
  it('describes every setting from its schema, the narrowest scope first', async () => {
    const { catalog } = givenCatalog();
    const infos = await catalog.describe('party', MEMBER);
    expect(infos.map(({ scope, key, type }) => `${scope} ${key}: ${type}`)).to.deep.equal([
      'member colour: text',
      'user nick: text of at most 10 characters',
      'role budget: number',
      'channel quiet: yes or no',
      'guild depth: whole number from 1 to 20',
      'guild guild.style: one of plain, cyberpunk, terminal',
      'guild channel: channel',
      'global model: text',
      'global apiKey: secret text',
      'global global.style: one of plain, cyberpunk',
    ]);
    expect(infos.find(({ key }) => key === 'depth')).to.deep.equal({
      plugin: 'party',
      key: 'depth',
      scope: 'guild',
      type: 'whole number from 1 to 20',
      control: { kind: 'number', whole: true, min: 1, max: 20 },
      description: 'How many turns',
      default: 5,
      value: 5,
      secret: false,
    });
  });

  it('leaves out in a direct message what belongs to a server', async () => {
    const { catalog } = givenCatalog();
    const scopes = (await catalog.describe('party', inPrivate(MEMBER))).map(({ scope }) => scope);
    expect(new Set(scopes)).to.deep.equal(new Set(['user', 'role', 'channel', 'global']));
  });

  it('gives the value in force in the place where the actor is', async () => {
    const { catalog } = givenCatalog();
    await catalog.set('party', 'depth', '7', ADMIN);
    const depthFor = async (guildId: string) =>
      (await catalog.describe('party', { ...MEMBER, guildId })).find(({ key }) => key === 'depth')?.value;
    expect([await depthFor('7'), await depthFor('8')]).to.deep.equal([7, 5]);
  });

  it('sets a value from text and says what holds now', async () => {
    const { catalog } = givenCatalog();
    const info = await catalog.set('party', 'depth', ' 7 ', ADMIN);
    expect(info).to.include({ key: 'depth', value: 7, default: 5 });
  });

  it('lists the plugins that have settings', () => {
    const { catalog, storage } = givenCatalog();
    storage.open(storingPlugin({ id: 'bare' }));
    storage.open(storingPlugin({ id: 'admin', settings: { guild: z.object({ a: z.string().default('') }) } }));
    expect(catalog.plugins()).to.deep.equal(['admin', 'party']);
  });

  it('does not know a plugin that is not there', async () => {
    const { catalog } = givenCatalog();
    await failure('CINNABAR_PLUGIN_UNKNOWN', () => catalog.describe('prty', OWNER));
    await failure('CINNABAR_PLUGIN_UNKNOWN', () => catalog.set('prty', 'depth', '1', OWNER));
  });
});

describe('naming a setting', () => {
  it('does not mind upper and lower case where it is clear', async () => {
    const { catalog } = givenCatalog();
    expect(await catalog.set('party', 'APIKEY', 'abc', inPrivate(OWNER))).to.include({ key: 'apiKey' });
  });

  it('asks which, when several scopes have it', async () => {
    const { catalog } = givenCatalog();
    const error = await failure('CINNABAR_SETTING_INVALID', () => catalog.set('party', 'style', 'plain', OWNER));
    expect(error.message).to.contain('write `global.style` (everywhere) or `guild.style` (for this server) instead');
    // An admin may change one of the two settings.
    expect(await catalog.set('party', 'style', 'terminal', ADMIN)).to.include({ scope: 'guild', value: 'terminal' });
    expect(await catalog.set('party', 'guild.style', 'terminal', OWNER)).to.include({
      scope: 'guild',
      value: 'terminal',
    });
    expect(await catalog.set('party', 'global.style', 'cyberpunk', OWNER)).to.include({
      scope: 'global',
      value: 'cyberpunk',
    });
  });

  it('suggests the nearest when there is none', async () => {
    const { catalog } = givenCatalog();
    const error = await failure('CINNABAR_SETTING_UNKNOWN', () => catalog.set('party', 'dept', '1', ADMIN));
    expect(error.message).to.contain('Did you mean "depth"?');
    const scoped = await failure('CINNABAR_SETTING_UNKNOWN', () => catalog.set('party', 'guild.modle', '1', ADMIN));
    expect(scoped.message).to.contain('guild.modle');
  });

  it('leaves the roles of other servers alone', async () => {
    const { catalog, driver } = givenCatalog();
    for (const attempt of [
      () => catalog.set('party', 'role.99.budget', '5', ADMIN),
      () => catalog.reset('party', 'role.99.budget', ADMIN),
    ]) {
      const error = await failure('CINNABAR_SETTING_INVALID', attempt);
      expect(error.message).to.contain('this server has no such role');
    }
    expect(await driver.list([])).to.deep.equal([]);
  });

  it('needs the role for what is kept by role', async () => {
    const { catalog, driver } = givenCatalog();
    const error = await failure('CINNABAR_SETTING_INVALID', () => catalog.set('party', 'budget', '5', ADMIN));
    expect(error.message).to.contain('role.<role id>.budget');
    await catalog.set('party', 'role.11.budget', '5', ADMIN);
    await catalog.set('party', 'role.<@&12>.budget', '6', ADMIN);
    expect((await driver.read(['party', 'settings', 'role', '11']))?.data).to.deep.equal({ budget: 5 });
    expect((await driver.read(['party', 'settings', 'role', '12']))?.data).to.deep.equal({ budget: 6 });
  });

  it('that belongs to a server says so in a direct message', async () => {
    const { catalog } = givenCatalog();
    const error = await failure('CINNABAR_SETTING_INVALID', () => catalog.set('party', 'depth', '5', inPrivate(ADMIN)));
    expect(error.message).to.contain('server');
  });
});

describe('the right to change a setting', () => {
  const cases = [
    { key: 'model', text: 'large', may: ['owner'] },
    { key: 'depth', text: '7', may: ['owner', 'admin'] },
    { key: 'quiet', text: 'yes', may: ['owner', 'admin'] },
    { key: 'role.11.budget', text: '7', may: ['owner', 'admin'] },
    { key: 'nick', text: 'V', may: ['owner', 'admin', 'member'] },
    { key: 'colour', text: 'blue', may: ['owner', 'admin', 'member'] },
  ];
  for (const { key, text, may } of cases) {
    it(`${key}: ${may.join(', ')}`, async () => {
      for (const [name, actor] of Object.entries({ owner: OWNER, admin: ADMIN, member: MEMBER })) {
        const { catalog } = givenCatalog();
        const allowed = [() => catalog.set('party', key, text, actor), () => catalog.reset('party', key, actor)];
        for (const change of allowed) {
          if (may.includes(name)) await change();
          else expect((await failure('CINNABAR_ACCESS_DENIED', change)).message).to.contain('only');
        }
      }
    });
  }

  it('is no subject, except users for their own settings, when subjects cannot be resolved', async () => {
    const { storage } = memoryStorage();
    storage.open(
      storingPlugin({
        settings: { guild: z.object({ a: z.number().default(0) }), user: z.object({ b: z.number().default(0) }) },
      }),
    );
    await failure('CINNABAR_ACCESS_DENIED', () => storage.catalog.set('party', 'a', '1', OWNER));
    expect(await storage.catalog.set('party', 'b', '1', OWNER)).to.include({ value: 1 });
  });

  it('and a person sets their own alone', async () => {
    const { catalog, driver } = givenCatalog();
    await catalog.set('party', 'nick', 'V', MEMBER);
    await catalog.set('party', 'colour', 'blue', MEMBER);
    expect(await driver.list([])).to.have.deep.members([
      ['party', 'settings', 'user', '3'],
      ['party', 'settings', 'member', '7:3'],
    ]);
  });
});

describe('secret settings', () => {
  it('are never shown', async () => {
    const { catalog } = givenCatalog();
    const shown = async () => (await catalog.describe('party', OWNER)).find(({ key }) => key === 'apiKey');
    expect(await shown()).to.include({ value: '(not set)', default: '(not set)', secret: true });
    const info = await catalog.set('party', 'apiKey', 'hunter2', inPrivate(OWNER));
    expect(info.value).to.equal('(set)');
    expect(await shown()).to.include({ value: '(set)' });
    expect(JSON.stringify(await catalog.describe('party', OWNER))).to.not.contain('hunter2');
  });

  for (const [kind, keys] of [
    ['list', z.array(z.string()).default([])],
    ['record', z.record(z.string(), z.string()).default({})],
  ] as const) {
    it(`count as not set while their ${kind} is empty`, async () => {
      const { storage } = memoryStorage();
      const schema = z.object({ keys: keys.meta({ secret: true }) });
      storage.open(storingPlugin({ settings: { global: schema } }));
      const [info] = await storage.catalog.describe('party', OWNER);
      expect(info).to.include({ value: '(not set)', default: '(not set)' });
    });
  }

  it('are not accepted where others read, and not repeated', async () => {
    const { catalog } = givenCatalog();
    const error = await failure('CINNABAR_SETTING_INVALID', () => catalog.set('party', 'apiKey', 'hunter2', OWNER));
    expect(error.message).to.contain('environment').and.to.contain('direct message').and.to.not.contain('hunter2');
  });

  it('are whole secrets when a part of them is', async () => {
    const { storage } = memoryStorage({ tierOf: async () => 'botOwner' });
    const login = z.object({ user: z.string(), password: z.string().meta({ secret: true }) });
    storage.open(storingPlugin({ settings: { global: z.object({ login: login.optional() }) } }));
    await storage.catalog.set('party', 'login', '{"user":"V","password":"hunter2"}', inPrivate(OWNER));
    const [info] = await storage.catalog.describe('party', OWNER);
    expect(info).to.include({ secret: true, value: '(set)' });
  });
});

describe('resetting', () => {
  it('takes one setting back to its default', async () => {
    const { catalog } = givenCatalog();
    await catalog.set('party', 'depth', '7', ADMIN);
    await catalog.set('party', 'guild.style', 'terminal', ADMIN);
    await catalog.reset('party', 'depth', ADMIN);
    const values = (await catalog.describe('party', ADMIN))
      .filter(({ scope }) => scope === 'guild')
      .map(({ value }) => value);
    expect(values).to.deep.equal([5, 'terminal', undefined]);
  });

  it('takes all of a scope when the scope is named', async () => {
    const { catalog, driver } = givenCatalog();
    await catalog.set('party', 'depth', '7', ADMIN);
    await catalog.set('party', 'nick', 'V', ADMIN);
    await catalog.reset('party', 'guild', ADMIN);
    expect(await driver.list([])).to.deep.equal([['party', 'settings', 'user', '2']]);
    await failure('CINNABAR_ACCESS_DENIED', () => catalog.reset('party', 'global', ADMIN));
  });

  it('without a name takes the one scope that the actor may change, and asks when there are several', async () => {
    const { catalog } = givenCatalog();
    const error = await failure('CINNABAR_SETTING_INVALID', () => catalog.reset('party', undefined, ADMIN));
    expect(error.message).to.contain('guild or channel or user or member');

    const { storage } = memoryStorage({ tierOf: async ({ userId }) => (userId === '2' ? 'admin' : 'everyone') });
    storage.open(storingPlugin({ settings: { guild: z.object({ a: z.number().default(0) }) } }));
    await storage.catalog.set('party', 'a', '1', ADMIN);
    await failure('CINNABAR_ACCESS_DENIED', () => storage.catalog.reset('party', undefined, MEMBER));
    await storage.catalog.reset('party', undefined, ADMIN);
    expect((await storage.catalog.describe('party', ADMIN))[0]?.value).to.equal(0);
  });

  it('names what does not exist', async () => {
    const { catalog } = givenCatalog();
    await failure('CINNABAR_SETTING_UNKNOWN', () => catalog.reset('party', 'dept', ADMIN));
  });
});
