import { expect } from 'chai';
import { useFolder } from './support/folder.js';
import { createPluginHarness, createPluginHarnessIn } from './support/harness.js';
import { testPlugin } from './support/plugins.js';

const fail = () => {
  throw new Error('no luck');
};

describe('plugins that guard tools', () => {
  it('are down where they are enabled but do not run', async () => {
    const harness = createPluginHarness();
    await harness.boot(testPlugin('confirm', { guard: true }), testPlugin('dice'));
    expect(harness.manager.guards('1')).to.deep.equal([]);
    await harness.manager.unload('confirm');
    expect(harness.manager.guards('1')).to.deep.equal(['confirm']);
    expect(harness.manager.guards(null)).to.deep.equal(['confirm']);
    await harness.manager.load('confirm');
    expect(harness.manager.guards('1')).to.deep.equal([]);
  });

  it('are down when they fail to start', async () => {
    const harness = createPluginHarness();
    await harness.boot(testPlugin('confirm', { guard: true, setup: fail }));
    expect(harness.manager.guards('1')).to.deep.equal(['confirm']);
  });

  it('do not count in a guild that has switched them off, or where they are off by default', async () => {
    const harness = createPluginHarness();
    await harness.boot(
      testPlugin('confirm', { guard: true, setup: fail }),
      testPlugin('shy', { guard: true, enabledByDefault: false, setup: fail }),
    );
    await harness.manager.disable('1', 'confirm');
    await harness.manager.enable('2', 'shy');
    expect(harness.manager.guards('1')).to.deep.equal([]);
    expect(harness.manager.guards('2')).to.deep.equal(['confirm', 'shy']);
  });

  it('do not guard when the configuration switches them off by name', async () => {
    const harness = createPluginHarness({ disabled: ['confirm'] });
    await harness.boot(testPlugin('confirm', { guard: true }));
    expect(harness.manager.guards('1')).to.deep.equal([]);
  });

  it('stay guards over a reload that fails, and are none when a new version says so', async () => {
    const harness = createPluginHarness();
    await harness.boot(testPlugin('confirm', { guard: true }));
    harness.manager.add(testPlugin('confirm', { version: '2.0.0', setup: fail }), { path: '(memory)' });
    await harness.manager.reload('confirm').catch(() => undefined);
    expect(harness.guards.known).to.deep.equal([{ id: 'confirm', enabledByDefault: true }]);
    harness.manager.add(testPlugin('confirm', { version: '2.0.0' }), { path: '(memory)' });
    await harness.manager.reload('confirm');
    expect(harness.guards.known).to.deep.equal([]);
    await harness.manager.unload('confirm');
    expect(harness.manager.guards('1')).to.deep.equal([]);
  });

  it('are remembered over a restart, even when nothing is left of them; a guild can switch them off', async () => {
    const before = createPluginHarness();
    await before.boot(testPlugin('confirm', { guard: true }));
    await before.manager.stop();
    const after = createPluginHarness({ guards: before.guards });
    await after.boot();
    expect(after.manager.guards('1')).to.deep.equal(['confirm']);
    expect(after.manager.enabledIn('1', 'confirm')).to.equal(true);
    await after.manager.disable('1', 'confirm');
    expect(after.manager.guards('1')).to.deep.equal([]);
  });

  describe('on disk', () => {
    const folder = useFolder();
    const createDiskHarness = () => createPluginHarnessIn(folder.at());
    const manifest = (cinnabar: object) => ({ name: 'plugin-confirm', main: 'index.ts', cinnabar });

    it('are guards when their package says so, though they have never been built', async () => {
      await folder.write({
        'plugins/confirm/package.json': manifest({ guard: true }),
        'plugins/confirm/index.ts': 'export default {{',
      });
      const harness = createDiskHarness();
      await harness.boot();
      expect(harness.manager.guards('1')).to.deep.equal(['confirm']);
    });

    it('guard under the id of their manifest once that is known', async () => {
      await folder.write({
        'plugins/confirm/package.json': manifest({ guard: true }),
        'plugins/confirm/index.ts': `
          import { definePlugin } from '@cinnabar/sdk';
          export default definePlugin({
            manifest: { id: 'ask-first', version: '1.0.0', description: 'Asks', guard: true },
            setup: () => undefined,
          });`,
      });
      const harness = createDiskHarness();
      await harness.boot();
      expect(harness.guards.known).to.deep.equal([{ id: 'ask-first', enabledByDefault: true }]);
      expect(harness.manager.guards('1')).to.deep.equal([]);
    });
  });

  it('are taken from those that load when the list cannot be read', async () => {
    const harness = createPluginHarness({
      guards: {
        get known(): never {
          throw new Error('corrupt');
        },
      },
    });
    await harness.boot(testPlugin('confirm', { guard: true }));
    expect(harness.manager.guards('1')).to.deep.equal([]);
    expect(harness.complaints.join()).to.include('cannot be read');
    await harness.manager.unload('confirm');
    expect(harness.manager.guards('1')).to.deep.equal(['confirm']);
  });
});
