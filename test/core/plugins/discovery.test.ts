import { symlink } from 'node:fs/promises';
import { createDiscovery } from '@cinnabar/core';
import { expect } from 'chai';
import { useFolder } from './support/folder.js';

const SOURCE = 'export {};';

describe('finding plugins', () => {
  const folder = useFolder();
  const discover = (options: { bundled?: string[]; packageRoots?: string[] } = {}) =>
    createDiscovery({
      bundled: (options.bundled ?? []).map((name) => folder.at(name)),
      folders: [folder.at('plugins')],
      packageRoots: (options.packageRoots ?? []).map((name) => folder.at(name)),
    })();

  it('takes folders with an index file, of TypeScript or JavaScript', async () => {
    await folder.write({
      'plugins/a/index.ts': SOURCE,
      'plugins/b/index.mts': SOURCE,
      'plugins/c/index.js': SOURCE,
      'plugins/d/index.mjs': SOURCE,
    });
    const { plugins, problems } = await discover();
    expect(problems).to.deep.equal([]);
    expect(plugins.map(({ id, source, entry }) => [id, source, entry])).to.deep.equal([
      ['a', 'folder', folder.at('plugins/a/index.ts')],
      ['b', 'folder', folder.at('plugins/b/index.mts')],
      ['c', 'folder', folder.at('plugins/c/index.js')],
      ['d', 'folder', folder.at('plugins/d/index.mjs')],
    ]);
  });

  it('takes the entry that package.json names, and what it says of the plugin', async () => {
    await folder.write({
      'plugins/one/package.json': { name: '@someone/cinnabar-plugin-dice', main: './src/a.ts', version: '1.2.0' },
      'plugins/one/src/a.ts': SOURCE,
      'plugins/two/package.json': {
        name: 'cinnabar-plugin-weather',
        exports: { '.': { types: './a.d.ts', import: './b.js' } },
        description: 'Tells the weather',
        cinnabar: { guard: true },
      },
      'plugins/two/b.js': SOURCE,
    });
    const { plugins } = await discover();
    expect(plugins).to.deep.equal([
      {
        id: 'dice',
        source: 'folder',
        path: folder.at('plugins/one'),
        entry: folder.at('plugins/one/src/a.ts'),
        version: '1.2.0',
        description: '',
        guard: false,
      },
      {
        id: 'weather',
        source: 'folder',
        path: folder.at('plugins/two'),
        entry: folder.at('plugins/two/b.js'),
        version: '0.0.0',
        description: 'Tells the weather',
        guard: true,
      },
    ]);
  });

  it('takes direct dependencies that carry the keyword, and does not look at the rest of node_modules', async () => {
    const plugin = (name: string, keywords: string[]) => ({
      [`app/node_modules/${name}/package.json`]: { name, main: 'main.js', keywords },
      [`app/node_modules/${name}/main.js`]: SOURCE,
    });
    await folder.write({
      'plugins/.keep': '',
      'app/package.json': { dependencies: { 'plugin-dice': '1', lodash: '1', '@me/plugin-xp': '1', gone: '1' } },
      ...plugin('plugin-dice', ['cinnabar-plugin']),
      ...plugin('@me/plugin-xp', ['games', 'cinnabar-plugin']),
      ...plugin('lodash', []),
      ...plugin('plugin-transitive', ['cinnabar-plugin']),
    });
    const { plugins, problems } = await discover({ packageRoots: ['app', 'nowhere'] });
    expect(problems).to.deep.equal([]);
    expect(plugins.map(({ id, source }) => [id, source])).to.deep.equal([
      ['dice', 'package'],
      ['xp', 'package'],
    ]);
  });

  it('reports what is no plugin, with its place and the cause, and takes the rest', async () => {
    await folder.write({
      'plugins/empty/README.md': '',
      'plugins/garbled/package.json': '{ "main": ',
      'plugins/gone/package.json': { main: './dist/index.js' },
      'plugins/nonsense/package.json': { main: 7 },
      'plugins/outside/package.json': { main: '../good/index.ts' },
      'plugins/good/index.ts': SOURCE,
    });
    await symlink(folder.at('nowhere'), folder.at('plugins/dangling'));
    const { plugins, problems } = await discover();
    expect(plugins.map(({ id }) => id)).to.deep.equal(['good']);
    expect(problems.every(({ code }) => code === 'CINNABAR_PLUGIN_INVALID')).to.equal(true);
    const sentences = problems.map(({ message }) => message).join('\n');
    expect(sentences).to.include(`${folder.at('plugins/empty')} cannot be used: it has neither an index file`);
    expect(sentences).to.include(`${folder.at('plugins/garbled')} cannot be used: its package.json is not JSON`);
    expect(sentences).to.include(
      `${folder.at('plugins/gone')} cannot be used: its package.json names ./dist/index.js, which is not there`,
    );
    expect(sentences).to.include(
      `${folder.at('plugins/nonsense')} cannot be used: its package.json is not right: main`,
    );
    expect(sentences).to.include(`${folder.at('plugins/outside')} cannot be used: its entry file`);
    expect(sentences).to.include(`${folder.at('plugins/dangling')} cannot be used: ENOENT`);
  });

  it('reports a configured folder that is not there', async () => {
    const { plugins, problems } = await discover();
    expect(plugins).to.deep.equal([]);
    expect(problems.map(({ message }) => message).join()).to.include(`${folder.at('plugins')} cannot be used: ENOENT`);
  });

  it('names both places of an id that is there twice, and keeps the first', async () => {
    await folder.write({ 'bundled/dice/index.ts': SOURCE, 'plugins/dice/index.ts': SOURCE });
    const { plugins, problems } = await discover({ bundled: ['bundled/dice'] });
    expect(plugins.map(({ id, source }) => [id, source])).to.deep.equal([['dice', 'bundled']]);
    expect(problems.map(({ message }) => message)).to.deep.equal([
      `Two plugins are called "dice": ${folder.at('bundled/dice')} and ${folder.at('plugins/dice')}.`,
    ]);
  });

  it('takes one folder that is reached on two ways once', async () => {
    await folder.write({ 'bundled/dice/index.ts': SOURCE, 'plugins/.keep': '' });
    await symlink(folder.at('bundled/dice'), folder.at('plugins/dice'));
    const { plugins, problems } = await discover({ bundled: ['bundled/dice'] });
    expect(problems).to.deep.equal([]);
    expect(plugins.map(({ source }) => source)).to.deep.equal(['bundled']);
  });

  it('takes the folder of a plugin in place of the one around it', async () => {
    await folder.write({ 'plugins/index.ts': SOURCE, 'plugins/src/help.ts': SOURCE });
    const alone = await discover();
    expect(alone.problems).to.deep.equal([]);
    expect(alone.plugins.map(({ path }) => path)).to.deep.equal([folder.at('plugins')]);
  });

  it('finds the plugins that come with the host by itself', async () => {
    const { plugins } = await createDiscovery({ folders: [], packageRoots: [] })();
    expect(plugins.map(({ id }) => id)).to.include.members(['admin', 'party', 'confirm']);
  });
});
