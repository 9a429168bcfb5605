import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { needsConsent, PluginPackages } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type LocalRegistry, startLocalRegistry } from '../../support/local-registry.js';
import { pluginTarball } from '../../support/plugin-package.js';
import { packFiles } from '../../support/tarball.js';

const PURGE = `context.tool({ name: 'dice_purge', description: 'Purges', input: z.object({}), risk: 'destructive', examples: [], run: async () => 'done', present: { card: () => ({ sentence: 'I purge.' }) } });`;

describe('installing plugins', () => {
  let registry: LocalRegistry;
  /** The first host, whose Discord the others use. */
  let world: TestHost;
  let host: TestHost;
  let packages: PluginPackages;
  let dataDir: string;

  before(async () => {
    registry = await startLocalRegistry();
    dataDir = await mkdtemp(join(tmpdir(), 'cinnabar-install-'));
    world = await createTestHost({ plugins: ['admin'], dataDir, env: { npm_config_registry: registry.url } });
    host = world;
    packages = host.resolve(PluginPackages);
  });
  after(async () => {
    await host[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
    await registry[Symbol.asyncDispose]();
    await rm(dataDir, { recursive: true, force: true });
  });

  const said = async (text: string) => {
    const before = new Set(host.general.messages);
    host.you.say(host.general, text);
    await host.settled();
    const answers = host.general.messages.filter((one) => !before.has(one) && one.author.bot);
    return answers.map(({ content }) => content).join('\n');
  };
  const inPlace = async (id: string) => readdir(join(dataDir, 'plugins', id)).catch(() => []);
  const refusal = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'it was not refused',
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );

  it('shows what a package declares before anything of it runs, and installs it with its dependencies', async () => {
    registry.add(packFiles({ 'package.json': { name: 'leaf', version: '1.2.3' }, 'index.js': 'exports.sides = 6;' }));
    registry.add(
      packFiles({
        'package.json': {
          name: 'branch',
          version: '2.0.0',
          dependencies: { leaf: '^1.0.0' },
          scripts: { postinstall: 'exit 1' },
        },
        'index.js': "exports.sides = require('leaf').sides;",
      }),
    );
    registry.add(
      pluginTarball({
        id: 'dice2',
        manifest: "intents: ['GuildModeration'], permissions: ['ManageMessages'], hosts: ['api.example.org']",
        definition: 'env: z.object({ DICE_KEY: z.string().optional() }),',
        imports: "import { sides } from 'branch';\nglobalThis.diceRan = (globalThis.diceRan ?? 0) + 1;",
        setup: "context.command({ name: 'sides', description: 'Sides', run: (ctx) => ctx.reply(sides + ' sides') });",
        packageFile: { dependencies: { branch: '^2.0.0' } },
      }),
    );
    const steps: string[] = [];
    const prepared = await packages.prepare('cinnabar-plugin-dice2@^1.0.0', (step) => steps.push(step));
    expect(globalThis).not.to.have.property('diceRan');
    expect(prepared.offer).to.deep.include({
      id: 'dice2',
      version: '1.0.0',
      license: 'MIT',
      source: 'npm package cinnabar-plugin-dice2@1.0.0',
      dependencies: 2,
      clashes: [],
      missingIntents: ['GuildModeration'],
      notes: ['These dependencies have install scripts, which do not run, and may not work without: branch.'],
    });
    expect(prepared.offer.declared).to.deep.include({
      author: 'Judy',
      intents: ['GuildModeration'],
      permissions: ['ManageMessages'],
      hosts: ['api.example.org'],
      env: ['DICE_KEY'],
      commands: ['dice2', 'sides'],
    });
    expect(steps.map((step) => step.split(' ')[0])).to.deep.equal(['Fetching', 'Fetching', 'Reading']);
    expect(await said('!sides')).to.equal('');
    await prepared.install();
    await host.settled();
    // The new version needs another intent, so the bot reconnects.
    await host.advance(10_000);
    expect(await said('!sides')).to.equal('6 sides');
    expect(await packages.list()).to.have.length(1);
  });

  it('updates to a newer version, and says what that newly wants', async () => {
    expect(await packages.prepareUpdate('dice2')).to.equal(undefined);
    registry.add(
      pluginTarball({ id: 'dice2', version: '1.1.0', setup: PURGE, manifest: "intents: ['GuildModeration']" }),
    );
    expect((await packages.updates()).updates).to.deep.equal([
      { id: 'dice2', from: '1.0.0', to: '1.1.0', pinned: false },
    ]);
    const prepared = await packages.prepareUpdate('dice2');
    expect(prepared?.offer.update).to.deep.equal({
      from: '1.0.0',
      wants: [{ kind: 'tool', name: 'dice_purge', risk: 'destructive' }],
    });
    expect(await said('!dice2')).to.equal('dice2 1.0.0');
    await prepared?.install();
    await host.settled();
    expect(await said('!dice2')).to.equal('dice2 1.1.0');
    expect(await inPlace('dice2')).to.have.length(1);
  });

  it('has an update agreed to where what it declares could not be read to the end', async () => {
    registry.add(pluginTarball({ id: 'dice3' }));
    await (await packages.prepare('cinnabar-plugin-dice3')).install();
    registry.add(pluginTarball({ id: 'dice3', version: '1.1.0' }));
    const plain = await packages.prepareUpdate('dice3');
    expect(plain && needsConsent(plain.offer)).to.equal(false);
    await plain?.discard();
    registry.add(pluginTarball({ id: 'dice3', version: '1.2.0', setup: "throw new Error('not now');" }));
    const hidden = await packages.prepareUpdate('dice3');
    expect(hidden?.offer.update?.wants).to.deep.equal([]);
    expect(hidden && needsConsent(hidden.offer)).to.equal(true);
    await hidden?.discard();
    await packages.remove('dice3', { withData: true });
  });

  it('leaves the old version running where the new one does not build, does not start, or is another', async () => {
    const tries = [
      { version: '1.2.0', setup: 'this is no code', reason: /does not build: src\/index\.ts:/ },
      { version: '1.2.1', setup: "throw new Error('no dice today');", reason: /no dice today.*Still running 1\.1\.0/ },
      { version: '1.2.2', id: 'dice3', reason: /should be the plugin dice2, and its manifest says that it is dice3/ },
    ];
    for (const { reason, id = 'dice2', ...options } of tries) {
      registry.add(pluginTarball({ ...options, id, name: 'cinnabar-plugin-dice2' }));
      const attempt = packages.prepareUpdate('dice2').then((prepared) => prepared?.install());
      expect(await refusal(attempt)).to.match(reason);
      expect(await said('!dice2')).to.equal('dice2 1.1.0');
      expect(await inPlace('dice2')).to.have.length(1);
    }
    registry.remove('cinnabar-plugin-dice2', '1.2.1');
  });

  it('leaves a pinned plugin as it is', async () => {
    await packages.pin('dice2', true);
    expect(await refusal(packages.prepareUpdate('dice2'))).to.equal('dice2 is pinned to 1.1.0.');
    await packages.pin('dice2', false);
  });

  it('loads the same version after a restart, and none whose files were changed', async () => {
    await host.stop();
    const again = () =>
      createTestHost({ plugins: ['admin', 'dice2'], dataDir, world, env: { npm_config_registry: registry.url } });
    {
      await using second = await again();
      expect(second.plugins.list().find(({ id }) => id === 'dice2')?.manifest.version).to.equal('1.1.0');
    }
    const [folder = ''] = await inPlace('dice2');
    const entry = join(dataDir, 'plugins', 'dice2', folder, 'src', 'index.ts');
    const text = await readFile(entry, 'utf8');
    await appendFile(entry, '// changed');
    expect(await refusal(again())).to.match(/no plugin called "dice2"/);
    const [listed] = await packages.list();
    expect(listed?.problem).to.match(/its files are not those that were installed/);
    await writeFile(entry, text);
    host = await again();
    packages = host.resolve(PluginPackages);
  });

  it('removes a plugin with its commands, and its data where that is asked for', async () => {
    await packages.remove('dice2', { withData: true });
    expect(host.plugins.list().map(({ id }) => id)).not.to.include('dice2');
    expect(await said('!dice2')).not.to.match(/dice2 1/);
    expect(await packages.list()).to.deep.equal([]);
    expect(await inPlace('dice2')).to.deep.equal([]);
  });
});
