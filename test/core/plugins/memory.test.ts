import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { useFolder } from './support/folder.js';
import { createPluginHarnessIn, watchVersions } from './support/harness.js';

const dice = (version: number) => `
import { definePlugin } from '@cinnabar/sdk';
const held = Array.from({ length: 1000 }, (_, index) => 'line ' + index);
export default definePlugin({
  manifest: { id: 'dice', version: '${version}.0.0', description: 'Rolls dice' },
  setup({ command, on, signal }) {
    if (${version} === 3) throw new Error(held[0]);
    command({ name: 'roll', description: 'Rolls', run: () => held });
    on('messageCreate', () => held);
    signal.addEventListener('abort', () => held);
  },
});
`;

describe('the memory that plugins take', () => {
  const folder = useFolder();
  setFlagsFromString('--expose-gc');
  const versions = watchVersions(runInNewContext('gc'));

  it('is free again when they are reloaded, also in vain, and when they are unloaded', async () => {
    await folder.write({ 'plugins/dice/index.ts': dice(1) });
    const { manager } = createPluginHarnessIn(folder.at(), { onStart: (owner) => versions.note([owner]) });
    await manager.boot();
    for (const version of [2, 3, 4]) {
      await folder.write({ 'plugins/dice/index.ts': dice(version) });
      await manager.reload('dice').catch(() => undefined);
    }
    expect([...(await versions.alive(1))]).to.deep.equal([['dice', 1]]);
    await manager.unload('dice');
    expect([...(await versions.alive(0))]).to.deep.equal([]);
    expect(versions.seen).to.equal(4);
  });
});
