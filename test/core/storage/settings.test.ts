import { definePlugin, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { memoryStorage, storingPlugin } from './fixture.js';

const settings = {
  global: z.object({ model: z.string().default('small'), depth: z.number().int().min(1).max(20).default(5) }),
  guild: z.object({
    style: z.enum(['plain', 'cyberpunk']).default('plain'),
    channel: z.string().optional(),
    words: z.array(z.string()).default([]),
  }),
};

describe('settings', () => {
  it('read as their defaults before anything is set', async () => {
    const { settings: of } = memoryStorage().open({ settings });
    expect(await of.global.get()).to.deep.equal({ model: 'small', depth: 5 });
    expect(await of.guild('1').get()).to.deep.equal({ style: 'plain', words: [] });
  });

  it('keep what is set, by scope and place', async () => {
    const { settings: of } = memoryStorage().open({ settings });
    expect(await of.guild('1').set({ style: 'cyberpunk' })).to.deep.equal({ style: 'cyberpunk', words: [] });
    expect(await of.guild({ id: '1' }).get()).to.deep.equal({ style: 'cyberpunk', words: [] });
    expect((await of.guild('2').get()).style).to.equal('plain');
  });

  it('say in which guilds anything was changed, so that the others need not be read', async () => {
    const { settings: of } = memoryStorage().open({ settings });
    expect(await of.guild.changedIn()).to.deep.equal([]);
    await of.guild('1').get();
    await of.guild('2').set({ style: 'cyberpunk' });
    await of.guild('3').set({ channel: '5' });
    await of.guild('3').reset();
    expect(await of.guild.changedIn()).to.deep.equal(['2']);
  });

  it('are called for each change that was saved before it is acknowledged, and for none that was refused', async () => {
    const { settings: of, onChange } = memoryStorage().open({ settings });
    const heard: string[] = [];
    const stop = onChange(async ({ scope, of: place }) => {
      await Promise.resolve();
      heard.push(`${scope} ${place}`);
    });
    await of.guild('1').set({ style: 'cyberpunk' });
    expect(heard).to.deep.equal(['guild 1']);
    await of.global.update((draft) => Object.assign(draft, { depth: 6 }));
    await of.guild({ id: '2' }).reset();
    await failure('CINNABAR_SETTING_INVALID', () => of.global.set({ depth: 99 }));
    expect(heard).to.deep.equal(['guild 1', 'global null', 'guild 2']);
    stop();
    await of.guild('1').reset('style');
    expect(heard).to.have.length(3);
  });

  it('change in the order in which changes are made, in every scope', async () => {
    const { settings: of } = memoryStorage().open({ settings });
    await Promise.all([of.guild('1').set({ style: 'cyberpunk' }), of.guild('1').reset()]);
    expect((await of.guild('1').get()).style).to.equal('plain');
    await Promise.all([of.global.set({ depth: 7 }), of.global.reset()]);
    expect((await of.global.get()).depth).to.equal(5);
  });

  it('store what was set and nothing else, so that a later default holds', async () => {
    const { open } = memoryStorage();
    await open({ settings }).settings.guild('1').set({ channel: '5' });
    const later = { guild: z.object({ style: z.string().default('terminal'), channel: z.string().optional() }) };
    expect(await open({ settings: later }).settings.guild('1').get()).to.deep.equal({
      style: 'terminal',
      channel: '5',
    });
  });

  it('are validated when they are written', async () => {
    const { settings: of } = memoryStorage().open({ settings });
    const error = await failure('CINNABAR_SETTING_INVALID', () => of.global.set({ depth: 25 }));
    expect(error.params.key).to.equal('depth');
    await failure('CINNABAR_SETTING_INVALID', () => of.global.update((draft) => Object.assign(draft, { depth: 0 })));
    expect((await of.global.get()).depth).to.equal(5);
  });

  it('refuse a key that is not theirs, with the nearest', async () => {
    const { settings: of } = memoryStorage().open({ settings });
    const error = await failure('CINNABAR_SETTING_UNKNOWN', () =>
      of.global.update((draft) => Object.assign(draft, { dept: 1 })),
    );
    expect(error.message).to.contain('Did you mean "depth"?');
  });

  it('update a draft and save only what the draft changed', async () => {
    const { settings: of, driver } = (() => {
      const { open, driver } = memoryStorage();
      return { ...open({ settings }), driver };
    })();
    await of.guild('1').update((draft) => draft.words.push('hello'));
    expect((await driver.read(['party', 'settings', 'guild', '1']))?.data).to.deep.equal({ words: ['hello'] });
  });

  it('go back to the defaults one by one, or all', async () => {
    const { open, driver } = memoryStorage();
    const { settings: of } = open({ settings });
    await of.global.set({ model: 'large', depth: 7 });
    await of.global.reset('model');
    expect(await of.global.get()).to.deep.equal({ model: 'small', depth: 7 });
    await of.global.reset();
    expect(await of.global.get()).to.deep.equal({ model: 'small', depth: 5 });
    await of.global.set({ depth: 7 });
    await of.global.reset('depth');
    expect(await driver.list([]), 'nothing set, nothing stored').to.deep.equal([]);
  });

  it('go back to the default when an optional one is taken out of a draft', async () => {
    const { settings: of } = memoryStorage().open({ settings });
    await of.guild('1').set({ channel: '5' });
    await of.guild('1').update((draft) => {
      delete draft.channel;
    });
    expect(await of.guild('1').get()).to.not.have.property('channel');
  });

  it('keep values of keys that another version of the plugin knows', async () => {
    const { open } = memoryStorage();
    await open({ settings }).settings.guild('1').set({ channel: '5' });
    const older = { guild: z.strictObject({ style: z.string().default('plain') }) };
    await open({ settings: older }).settings.guild('1').set({ style: 'cyberpunk' });
    expect(await open({ settings }).settings.guild('1').get()).to.deep.equal({
      style: 'cyberpunk',
      channel: '5',
      words: [],
    });
  });

  it('leave the old value when the disk refuses', async () => {
    const { open, driver } = memoryStorage();
    const { global } = open({ settings }).settings;
    await global.set({ depth: 7 });
    driver.failWrites(new Error('no space left'), 2);
    await failure('CINNABAR_STORAGE_WRITE', () => global.set({ depth: 8 }));
    await failure('CINNABAR_STORAGE_WRITE', () => global.reset());
    expect((await global.get()).depth).to.equal(7);
  });
});

describe('presets', () => {
  it('stand between the defaults and what is set', async () => {
    const { global } = memoryStorage({ presets: { party: { model: 'preset', depth: 9 } } }).open({ settings }).settings;
    expect(await global.get()).to.deep.equal({ model: 'preset', depth: 9 });
    await global.set({ model: 'mine' });
    expect(await global.get()).to.deep.equal({ model: 'mine', depth: 9 });
    await global.reset('model');
    expect(await global.get()).to.deep.equal({ model: 'preset', depth: 9 });
  });

  it('do not touch narrower scopes', async () => {
    const both = { global: z.object({ a: z.number().default(0) }), guild: z.object({ a: z.number().default(0) }) };
    const of = memoryStorage({ presets: { party: { a: 1 } } }).open({ settings: both }).settings;
    expect([await of.global.get(), await of.guild('1').get()]).to.deep.equal([{ a: 1 }, { a: 0 }]);
  });

  it('that are wrong stop the plugin and say which', async () => {
    for (const [presets, part] of [
      [{ depth: 99 }, 'party.depth'],
      [{ dept: 1 }, '"depth"'],
    ] as const) {
      const { open } = memoryStorage({ presets: { party: presets } });
      const error = await failure('CINNABAR_CONFIG_INVALID', () => open({ settings }));
      expect(error.message).to.contain(part);
    }
  });
});

describe('opening', () => {
  it('refuses settings that cannot be read before they are set', async () => {
    const { storage } = memoryStorage();
    const plugin = definePlugin({
      manifest: { id: 'bare', version: '1.0.0', description: 'Wrong' },
      settings: { guild: z.object({ channel: z.string() }) },
      setup: () => undefined,
    });
    const error = await failure('CINNABAR_PLUGIN_INVALID', () => storage.open(plugin));
    expect(error.message).to.contain('"channel"').and.to.contain('default');
  });

  it('again, as a reload does, finds the same documents', async () => {
    const { open } = memoryStorage();
    await open({ settings }).settings.global.set({ depth: 3 });
    expect((await open({ settings }).settings.global.get()).depth).to.equal(3);
  });

  it('gives the host collections of its own that no plugin shares', async () => {
    const { storage } = memoryStorage();
    const schema = z.object({ n: z.number().default(0) });
    const own = storage.collection('guilds', { scope: 'guild', version: 1, schema });
    const plugin = storage.open(
      storingPlugin({ id: 'host', collections: { guilds: { scope: 'guild', version: 1, schema } } }),
    );
    await own.of('1').set({ n: 1 });
    expect(plugin.collections).to.have.property('guilds');
    expect(await own.of('1').get()).to.deep.equal({ n: 1 });
    expect(await storage.exportUser('1')).to.deep.equal({});
  });
});
