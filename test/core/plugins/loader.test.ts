import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { createDiscovery } from '@cinnabar/core';
import type { Plugin } from '@cinnabar/sdk';
import { expect } from 'chai';
import { countSyncs } from '../../support/file-syncs.js';
import { codedError } from './support/expect-error.js';
import { useFolder } from './support/folder.js';
import { loaderIn, loadersOfOneProcess } from './support/harness.js';

/** A plugin whose `setup` returns the value of an expression. */
const source = (expression: string, before = '') => `
import { definePlugin } from '@cinnabar/sdk';
${before}
export default definePlugin({
  manifest: { id: 'dice', version: '1.0.0', description: 'Rolls dice' },
  setup: () => ${expression},
});
`;

describe('loading a plugin', () => {
  const folder = useFolder();
  const loader = () => loaderIn(folder.at('cache'));

  async function load(files: Readonly<Record<string, string | object>> = {}, verify = false): Promise<Plugin> {
    await folder.write(files);
    const discover = createDiscovery({ bundled: [folder.at('dice')], folders: [], packageRoots: [] });
    const { plugins, problems } = await discover();
    const [found] = plugins;
    if (found === undefined) throw problems[0];
    return loader().load(found, { verify });
  }
  /** Runs `setup`, which does not use its context in these plugins. */
  const result = async (plugin: Plugin): Promise<unknown> => Reflect.apply(plugin.setup, plugin, [{}]);
  const cacheFile = async () => {
    const [name = ''] = await readdir(folder.at('cache'));
    return folder.at('cache', name);
  };

  describe('of TypeScript files', () => {
    it('bundles them and hands over what definePlugin returned', async () => {
      const plugin = await load({
        'dice/index.ts': source('roll(6)', "import { roll } from './roll.js';"),
        'dice/roll.ts': "export const roll = (sides: number): string => 'd' + sides;",
      });
      expect(plugin.manifest).to.deep.equal({ id: 'dice', version: '1.0.0', description: 'Rolls dice' });
      expect(await result(plugin)).to.equal('d6');
    });

    it('knows its own place as import.meta does', async () => {
      const plugin = await load({
        'dice/package.json': { main: './src/main.mts' },
        'dice/src/main.mts': source('[import.meta.filename, import.meta.dirname, import.meta.url]'),
      });
      const entry = folder.at('dice/src/main.mts');
      expect(await result(plugin)).to.deep.equal([entry, folder.at('dice/src'), `file://${entry}`]);
    });

    it('runs in strict mode, as modules do', async () => {
      const plugin = await load({ 'dice/index.ts': source('(function (this: unknown) { return this })()') });
      expect(await result(plugin)).to.equal(undefined);
    });

    it('keeps characters of every script in texts and in regular expressions', async () => {
      const plugin = await load({
        'dice/index.ts': source(
          "['he’s', '👍🏽', 'ё', '漢字'].map((text) => /^(?:\\w+[’]s|[👍🏽]+|[а-яё]|漢字)$/u.test(text))",
        ),
      });
      expect(await result(plugin)).to.deep.equal([true, true, true, true]);
      const raw = await load({ 'dice/index.ts': source("[String.raw`é`.length, /^\\é$/.test('é')]") });
      expect(await result(raw)).to.deep.equal([1, true]);
    });

    it('points at the TypeScript line in stack traces, of the newest version after a reload', async () => {
      const failing = (blankLines: number) => `${'\n'.repeat(blankLines)}
interface Unused { readonly nothing: never }
export function fail(): never {
  throw new Error('no dice');
}`;
      const stack = async (plugin: Plugin) => {
        const error = await result(plugin).catch((thrown: unknown) => thrown);
        return error instanceof Error ? error.stack : undefined;
      };
      const index = source('fail()', "import { fail } from './fail.js';");
      const first = await load({ 'dice/index.ts': index, 'dice/fail.ts': failing(0) });
      expect(await stack(first)).to.include(`${folder.at('dice/fail.ts')}:4:9`);
      const second = await load({ 'dice/fail.ts': failing(20) });
      expect(await stack(second)).to.include(`${folder.at('dice/fail.ts')}:24:9`);
    });
  });

  describe('of JavaScript files', () => {
    it('takes CommonJS', async () => {
      const plugin = await load({
        'dice/package.json': { main: 'main.js' },
        'dice/main.js': `const { definePlugin } = require('@cinnabar/sdk');
          module.exports = definePlugin({ manifest: { id: 'dice', version: '2.0.0', description: 'Rolls' }, setup: () => 7 });`,
      });
      expect(await result(plugin)).to.equal(7);
    });
  });

  describe('that imports packages', () => {
    const dependency = {
      'dice/package.json': { name: 'dice', type: 'module', main: './index.ts' },
      'dice/node_modules/esm-only/package.json': { name: 'esm-only', type: 'module', exports: { import: './i.js' } },
      'dice/node_modules/esm-only/i.js': 'export default class Queue {}; export const named = 1;',
      'dice/node_modules/old/package.json': { name: 'old', version: '1.0.0', main: 'i.js' },
      'dice/node_modules/old/i.js': 'exports.__esModule = true; exports.default = 1; exports.own = 2;',
    };

    it("gives it the host's own SDK", async () => {
      const plugin = await load({
        'dice/index.ts': source('CinnabarError', "import { CinnabarError } from '@cinnabar/sdk';"),
      });
      const sdk = await import('@cinnabar/sdk');
      expect(await result(plugin)).to.equal(sdk.CinnabarError);
    });

    it('resolves them from its own folder, with the meaning that Node gives to default imports', async () => {
      const imports = `import Queue, { named } from 'esm-only'; import old, { own } from 'old';`;
      const plugin = await load({
        ...dependency,
        'dice/index.ts': source('[new Queue().constructor.name, named, old.own, own]', imports),
      });
      expect(await result(plugin)).to.deep.equal(['Queue', 1, 2, 2]);
    });

    it('loads what import() names only when it is called', async () => {
      const plugin = await load({
        ...dependency,
        'dice/index.ts': source(`[import('esm-only'), import('missing-package').catch((e) => e.code)]`),
      });
      const [present, missing] = await Promise.all(Object(await result(plugin)));
      expect(new present.default().constructor.name).to.equal('Queue');
      expect(missing).to.equal('MODULE_NOT_FOUND');
    });

    it('says which package is not installed', async () => {
      const index = source('missing', "import missing from 'missing-package';");
      const sentence = await codedError('CINNABAR_PLUGIN_DEPENDENCY', load({ 'dice/index.ts': index }));
      expect(sentence).to.equal(
        `The plugin "dice" imports "missing-package", which is not installed: run "npm install missing-package" in ${folder.at('dice')}`,
      );
    });

    it('says which package is not compiled', async () => {
      const files = {
        'dice/node_modules/tokens/package.json': { name: 'tokens', type: 'module', main: './i.ts' },
        'dice/node_modules/tokens/i.ts': 'export const token: string = "t";',
        'dice/index.ts': source('token', "import { token } from 'tokens';"),
      };
      expect(await codedError('CINNABAR_PLUGIN_INVALID', load(files))).to.match(
        /it imports "tokens", which is TypeScript that nothing has compiled \(.*i\.ts\): a package has to be published as JavaScript/,
      );
    });

    it("gives it the host's own zod, unless it has one of its own", async () => {
      const index = source('z', "import { z } from 'zod';");
      const { z } = await import('@cinnabar/sdk');
      expect(await result(await load({ 'dice/index.ts': index }))).to.equal(z);
      const own = {
        'dice/node_modules/zod/package.json': { name: 'zod', main: 'i.js' },
        'dice/node_modules/zod/i.js': "exports.z = 'its own';",
      };
      expect(await result(await load(own))).to.equal('its own');
    });

    it('lends discord.js and zod to a folder without node_modules', async () => {
      const imports = "import { Events } from 'discord.js'; import { z } from 'zod';";
      const plugin = await load({ 'dice/index.ts': source('[Events.MessageCreate, z.number().parse(1)]', imports) });
      expect(await result(plugin)).to.deep.equal(['messageCreate', 1]);
    });
  });

  describe('that is not right', () => {
    it('names file, line and column of a syntax error', async () => {
      const index = 'const a = 1;\nconst b = ;\nconst c = };\n';
      const sentence = await codedError('CINNABAR_PLUGIN_BUILD', load({ 'dice/index.ts': index }));
      expect(sentence).to.equal('The plugin "dice" does not build: index.ts:2:11: Unexpected ";"');
    });

    it('counts further errors', async () => {
      const index = "import './a.js';\nimport './b.js';\nimport './c.js';";
      const sentence = await codedError('CINNABAR_PLUGIN_BUILD', load({ 'dice/index.ts': index }));
      expect(sentence).to.equal(
        'The plugin "dice" does not build: index.ts:1:8: Could not resolve "./a.js" (and 2 more errors)',
      );
    });

    const cases: readonly (readonly [string, string, string])[] = [
      [
        'a default export that is no plugin',
        'export default {};',
        'its default export is not what definePlugin(…) returns',
      ],
      ['no default export', 'export const a = 1;', 'its default export is not what definePlugin(…) returns'],
      ['an exception while it is evaluated', 'throw new Error("no luck");', 'no luck'],
      ['an id with capitals', source('0').replace("'dice'", "'Dice'"), 'its id must be lower case'],
      [
        'a version that is none',
        source('0').replace('1.0.0', 'one'),
        'manifest.version is not right: expected a semantic version',
      ],
      [
        'an unknown intent',
        source('0').replace("'1.0.0'", "'1.0.0', intents: ['Guild']"),
        'manifest.intents.0 is not right',
      ],
      [
        'a setting without default',
        source('0', "import { z } from '@cinnabar/sdk';").replace(
          'setup:',
          'settings: { guild: z.object({ channel: z.string() }) }, setup:',
        ),
        'its guild setting "channel" needs a default, or must be optional',
      ],
      ['an unknown scope of settings', source('0').replace('setup:', 'settings: { planet: 1 }, setup:'), 'settings'],
    ];
    for (const [what, index, detail] of cases) {
      it(`says so: ${what}`, async () => {
        const sentence = await codedError('CINNABAR_PLUGIN_INVALID', load({ 'dice/index.ts': index }));
        expect(sentence).to.include(detail);
      });
    }

    it('says which host it wants', async () => {
      const index = source('0').replace("'1.0.0'", "'1.0.0', host: '^9.0.0'");
      const sentence = await codedError('CINNABAR_PLUGIN_HOST_VERSION', load({ 'dice/index.ts': index }));
      expect(sentence).to.equal('The plugin "dice" needs host ^9.0.0, but this is 0.1.0.');
    });

    it('says so again to a second host of the process', async () => {
      await folder.write({ 'dice/index.ts': source('0').replace("'1.0.0'", "'1.0.0', host: '^9.0.0'") });
      const discover = createDiscovery({ bundled: [folder.at('dice')], folders: [], packageRoots: [] });
      const [found] = (await discover()).plugins;
      if (found === undefined) throw new Error('no plugin was found');
      for (const one of loadersOfOneProcess(folder.at('cache')))
        await codedError('CINNABAR_PLUGIN_HOST_VERSION', one.load(found, { verify: false }));
    });
  });

  describe('built ahead with the host', () => {
    it('stays what runs as long as no source is another', async () => {
      await folder.write({ 'dice/index.ts': source('1') });
      const discover = createDiscovery({ bundled: [folder.at('dice')], folders: [], packageRoots: [] });
      const [found] = (await discover()).plugins;
      if (found === undefined) throw new Error('there is no plugin');
      await loaderIn(folder.at('ahead')).load(found);
      const [file = ''] = await readdir(folder.at('ahead'));
      let changes = 0;
      const files = new Map([[found.entry, folder.at('ahead', file)]]);
      const ahead = loaderIn(folder.at('cache'), { files, onChange: () => void changes++ });
      expect(await result(await ahead.load(found, { verify: true }))).to.equal(1);
      expect(changes).to.equal(0);
      await folder.write({ 'dice/index.ts': source('2') });
      expect(await result(await ahead.load(found, { verify: true }))).to.equal(2);
      expect(changes).to.equal(1);
    });
  });

  describe('from the cache', () => {
    const built = async () => (await stat(await cacheFile())).ino;

    it('does not build what has not changed', async () => {
      await load({ 'dice/index.ts': source('1') });
      const before = await built();
      expect(await result(await load())).to.equal(1);
      expect(await built()).to.equal(before);
    });

    it('does not build a file that was only touched', async () => {
      await load({ 'dice/index.ts': source('1') });
      const before = await built();
      await utimes(folder.at('dice/index.ts'), 1, 1);
      await load();
      expect(await built()).to.equal(before);
    });

    it('builds again when any input changes', async () => {
      const index = source('n', "import { n } from './n.js';");
      await load({ 'dice/index.ts': index, 'dice/n.ts': 'export const n = 1;' });
      expect(await result(await load({ 'dice/n.ts': 'export const n = 22;' }))).to.equal(22);
    });

    it('finds a change that left time and size alone, when it is asked to verify', async () => {
      const file = folder.at('dice/index.ts');
      await load({ 'dice/index.ts': source('1') });
      await utimes(file, 1, 1);
      await load();
      await load({ 'dice/index.ts': source('2') });
      const { atime, mtime } = await stat(file);
      await load({ 'dice/index.ts': source('3') });
      await utimes(file, atime, mtime);
      expect(await result(await load({}, true))).to.equal(3);
    });

    it('builds again when the file in the cache is damaged', async () => {
      await load({ 'dice/index.ts': source('1') });
      const file = await cacheFile();
      const content = await readFile(file, 'utf8');
      for (const damaged of ['', 'module.exports = 1;', content.slice(0, 100), content.replace('() => 1', '() => 2')]) {
        await writeFile(file, damaged);
        expect(await result(await load())).to.equal(1);
      }
    });

    it('is synced when it is written', async () => {
      using syncs = await countSyncs();
      await load({ 'dice/index.ts': source('6') });
      expect(syncs.files).to.equal(1);
      expect(syncs.folders).to.be.at.least(1);
    });

    it('is the only file, whatever a process that died has left, but for what another is writing', async () => {
      await load({ 'dice/index.ts': source('1') });
      const file = await cacheFile();
      await writeFile(`${file}.left.new`, 'half');
      await utimes(`${file}.left.new`, 1, 1);
      await writeFile(`${file}.fresh.new`, 'half');
      await load({ 'dice/index.ts': source('2') });
      const names = await readdir(folder.at('cache'));
      expect(names.filter((name) => name.endsWith('.new')).map((name) => name.split('.').at(-2))).to.deep.equal([
        'fresh',
      ]);
    });

    it('leaves nothing but the one file', async () => {
      await load({ 'dice/index.ts': source('1') });
      await load({ 'dice/index.ts': source('2') });
      expect(await readdir(folder.at('cache'))).to.have.length(1);
    });
  });
});
