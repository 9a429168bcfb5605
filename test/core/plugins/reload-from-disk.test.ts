import { expect } from 'chai';
import { codedError } from './support/expect-error.js';
import { useFolder } from './support/folder.js';
import { createPluginHarnessIn } from './support/harness.js';

const dice = (version: string, command: string) => `
import { definePlugin } from '@cinnabar/sdk';
export default definePlugin({
  manifest: { id: 'dice', version: '${version}', description: 'Rolls dice' },
  setup: ({ command }) => {
    command({ name: '${command}', description: 'Rolls', run: () => undefined });
  },
});
`;

describe('plugins on disk', () => {
  const folder = useFolder();
  const createDiskHarness = () => createPluginHarnessIn(folder.at());

  it('are reloaded as they are saved', async () => {
    await folder.write({ 'plugins/dice/index.ts': dice('1.0.0', 'roll') });
    const harness = createDiskHarness();
    await harness.boot();
    await folder.write({ 'plugins/dice/index.ts': dice('1.1.0', 'throw') });
    expect(await harness.manager.reload('dice')).to.deep.equal({
      id: 'dice',
      from: '1.0.0',
      to: '1.1.0',
      changes: ['command roll removed', 'command throw added'],
    });
    expect(harness.manager.list()[0]?.effects).to.deep.equal(['command throw']);
  });

  it('go on untouched when what was saved has a syntax error', async () => {
    await folder.write({ 'plugins/dice/index.ts': dice('1.2.0', 'roll') });
    const harness = createDiskHarness();
    await harness.boot();
    const [owner] = harness.manager.owners();
    await folder.write({ 'plugins/dice/index.ts': 'export default {{' });
    expect(await codedError('CINNABAR_PLUGIN_RELOAD', harness.manager.reload('dice'))).to.equal(
      'The plugin "dice" was not reloaded. The plugin "dice" does not build: ' +
        'index.ts:1:17: Expected identifier but found "{". Still running 1.2.0.',
    );
    expect(harness.manager.owners()[0]).to.equal(owner);
    expect(owner?.scope.effects).to.deep.equal(['command roll']);
  });

  it('cannot change their id under way', async () => {
    await folder.write({ 'plugins/dice/index.ts': dice('1.0.0', 'roll') });
    const harness = createDiskHarness();
    await harness.boot();
    await folder.write({ 'plugins/dice/index.ts': dice('1.0.0', 'roll').replace("id: 'dice'", "id: 'cards'") });
    const sentence = await codedError('CINNABAR_PLUGIN_RELOAD', harness.manager.reload('dice'));
    expect(sentence).to.include('its id was "dice" and is now "cards"').and.include('Still running 1.0.0.');
  });

  it('are known by the id of their manifest, and loaded by it or by their folder', async () => {
    await folder.write({ 'plugins/my-dice/index.ts': dice('1.0.0', 'roll') });
    const harness = createDiskHarness();
    await harness.boot();
    expect(harness.states()).to.deep.equal({ dice: 'running' });
    await harness.manager.unload('dice');
    expect((await harness.manager.load('my-dice')).id).to.equal('dice');
    await harness.manager.unload('dice');
    expect((await harness.manager.load(folder.at('plugins/my-dice'))).id).to.equal('dice');
  });

  it('are found when they come while the host runs; others are not', async () => {
    await folder.write({ 'plugins/.keep': '', 'elsewhere/dice/index.ts': dice('1.0.0', 'roll') });
    const harness = createDiskHarness();
    await harness.boot();
    await codedError('CINNABAR_PLUGIN_UNKNOWN', harness.manager.load(folder.at('elsewhere/dice')));
    await codedError('CINNABAR_PLUGIN_UNKNOWN', harness.manager.load('../elsewhere/dice'));
    await folder.write({ 'plugins/dice/index.ts': dice('1.0.0', 'roll') });
    expect((await harness.manager.load('dice')).state).to.equal('running');
  });

  it('are reported with the cause when they cannot be used', async () => {
    await folder.write({
      'plugins/broken/index.ts': 'export default ;',
      'plugins/empty/README.md': '',
      'plugins/twin/index.ts': dice('1.0.0', 'roll'),
      'plugins/dice/index.ts': dice('1.0.0', 'roll'),
    });
    const harness = createDiskHarness();
    const { running, problems } = await harness.manager.boot();
    expect(running).to.deep.equal(['dice']);
    const sentences = Object.fromEntries(problems.map(({ plugin, problem }) => [plugin, problem]));
    expect(sentences.broken).to.equal('The plugin "broken" does not build: index.ts:1:16: Unexpected ";"');
    expect(sentences[folder.at('plugins/empty')]).to.include('it has neither an index file');
    expect(sentences.twin).to.equal(
      `Two plugins are called "dice": ${folder.at('plugins/dice')} and ${folder.at('plugins/twin')}.`,
    );
    expect(await codedError('CINNABAR_PLUGIN_INVALID', harness.manager.load('empty'))).to.include('neither an index');
  });

  it('keep nothing in the module cache', async () => {
    const { createRequire } = await import('node:module');
    const { cache } = createRequire(import.meta.url);
    await folder.write({ 'plugins/dice/index.ts': dice('1.0.0', 'roll') });
    const harness = createDiskHarness();
    await harness.boot();
    await harness.manager.reload('dice');
    const mentions = Object.values(cache).flatMap((module) => [
      module?.id,
      ...(module?.children ?? []).map(({ id }) => id),
    ]);
    expect(mentions.filter((id) => id?.startsWith(folder.at('')))).to.deep.equal([]);
  });
});
